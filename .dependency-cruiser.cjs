const COMPOSITION = ['', '!cli/', '!dashboard/']

// The rooms of src/ and who may import whom. What is not listed must not be imported.
const ROOMS = {
  'auth/': ['domain/'],
  'chain/': ['domain/', 'package-root.ts'],
  // Commands start a sandbox, talk to a running one, or read a fixture or scenario file without one.
  'cli/': [
    'index.ts',
    'option-error.ts',
    'options.ts',
    'read-fixture.ts',
    'sandbox/sandbox.ts',
    'version.ts',
    'control/client',
    'control/contract',
    'control/trusting-fetch',
    'domain/',
    'fixtures/',
    'scenarios/',
  ],
  'control/': ['domain/', 'faults/', 'fixtures/', 'scenarios/', 'traffic/'],
  'dashboard/': ['control/client', 'control/contract'],
  'data-dir/': ['domain/'],
  'domain/': [],
  'faults/': ['domain/'],
  'fixtures/': ['domain/', 'yaml-file/'],
  'http/': ['auth/', 'control/', 'domain/', 'faults/', 'identity/', 'partner-api/', 'traffic/'],
  'identity/': ['domain/'],
  'partner-api/': ['domain/'],
  'scenarios/': ['domain/', 'faults/', 'package-root.ts', 'traffic/', 'yaml-file/'],
  'store/': ['domain/'],
  'tls/': ['data-dir/private-file.ts', 'domain/'],
  'traffic/': ['domain/'],
  'yaml-file/': ['domain/'],
  // The composition: it builds the parts of every room and is itself above them.
  'index.ts': COMPOSITION,
  'sandbox/pending-chains.ts': COMPOSITION,
  'sandbox/support-routes.ts': COMPOSITION,
  'library/': COMPOSITION,
  'real-time.ts': [],
  'option-error.ts': ['domain/'],
  'options.ts': COMPOSITION,
  'package-root.ts': [],
  'read-fixture.ts': COMPOSITION,
  'sandbox/sandbox.ts': COMPOSITION,
  'sandbox/seed-service.ts': COMPOSITION,
  'sandbox/build-services.ts': COMPOSITION,
  'sandbox/persistence.ts': COMPOSITION,
  'sandbox/start-chains.ts': COMPOSITION,
  'sandbox/credentials.ts': COMPOSITION,
  'version.ts': ['package-root.ts'],
}

// Packages that belong to one side of a port: the domain knows none of them.
const NOT_IN_DOMAIN = ['@fastify/', 'fastify', 'jose', 'viem', '@viem/', '@foundry-rs/', 'commander', 'yaml']

// Development dependencies that src/ may import: they are bundled into what is published.
const BUNDLED = [
  '@bitauth/libauth',
  'hash-wasm',
  '@fastify/swagger',
  '@peculiar/x509',
  'commander',
  'fastify',
  'jose',
  'ms',
  'pino',
  'pure-rand',
  'reflect-metadata',
  'ulid',
  'yaml',
]

const escaped = (path) => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const isFile = (room) => room.endsWith('.ts')
const pathOf = (room) => `^src/${escaped(room)}${isFile(room) ? '$' : ''}`

const rooms = Object.entries(ROOMS).map(([room, entries]) => {
  const allowed = entries.filter((entry) => !entry.startsWith('!'))
  const excepted = entries.filter((entry) => entry.startsWith('!')).map((entry) => entry.slice(1))
  const may = allowed.length
    ? `may import ${allowed.map((entry) => entry || 'any room').join(', ')}`
    : 'imports no room'
  return {
    name: `room: ${room}`,
    comment: `src/${room} ${may}${excepted.length ? `, but not ${excepted.join(', ')}` : ''}`,
    severity: 'error',
    from: { path: pathOf(room) },
    to: excepted.length
      ? { path: excepted.map((entry) => `^src/${escaped(entry)}`) }
      : { path: '^src/', pathNot: [pathOf(room), ...allowed.map((entry) => `^src/${escaped(entry)}`)] },
  }
})

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...rooms,
    {
      name: 'a room must be listed',
      comment: 'A new folder or file of src/ belongs into the table of rooms first',
      severity: 'error',
      from: { path: '^src/', pathNot: Object.keys(ROOMS).map(pathOf) },
      to: {},
    },
    {
      name: 'the domain is pure',
      comment: 'src/domain/ knows no framework, chain library or store: those come through its ports',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { path: NOT_IN_DOMAIN.map((name) => `node_modules/${escaped(name)}${name.endsWith('/') ? '' : '/'}`) },
    },
    {
      name: 'the domain does no input or output',
      comment: 'Of Node, src/domain/ uses what computes only',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|events|timers/promises|util)$' },
    },
    {
      name: 'no circles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'src stands alone',
      comment: 'What is published imports neither tests nor measurements nor scripts',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'no development dependencies in src but what is bundled',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['npm', 'type-only'],
        pathNot: BUNDLED.map((name) => `node_modules/${escaped(name)}/`),
      },
    },
    {
      name: 'no undeclared dependencies',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'the executable starts the command line',
      severity: 'error',
      from: { path: '^bin/' },
      to: { pathNot: '^dist/cli\\.js$', dependencyTypesNot: ['core'] },
    },
    {
      name: 'everything imported exists',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}
