const { existsSync } = require('node:fs')
const { join } = require('node:path')

const COMPOSITION = ['']
const SUPPORT = 'support/'

// The rooms of src/ and who may import whom. What is not listed must not be imported. Every room may import src/support/.
const ROOMS = {
  'auth/': ['domain/'],
  // What an application believes of its money, compared with the ledger.
  'books/': ['domain/', 'oracle/'],
  // What a chain is made of, from the bottom up: a room imports rooms above it in this list only.
  'chain/json-rpc/': ['domain/'],
  'chain/reading/': ['domain/', 'chain/json-rpc/'],
  'chain/wallets/': ['domain/', 'chain/json-rpc/'],
  'chain/history/': ['domain/', 'chain/json-rpc/'],
  'chain/archive/': ['domain/', 'chain/json-rpc/'],
  'chain/markets/': ['domain/', 'package-root.ts', 'chain/json-rpc/', 'chain/reading/', 'chain/history/'],
  'chain/fork/': ['domain/', 'chain/json-rpc/', 'chain/history/'],
  'chain/node/': ['domain/', 'chain/json-rpc/', 'chain/history/', 'chain/archive/', 'chain/fork/'],
  'chain/writing/': ['domain/', 'chain/json-rpc/', 'chain/reading/', 'chain/history/', 'chain/archive/', 'chain/node/'],
  'chain/rounds/': [
    'domain/',
    'chain/json-rpc/',
    'chain/reading/',
    'chain/wallets/',
    'chain/archive/',
    'chain/markets/',
    'chain/writing/',
  ],
  // What transactions and events mean, in words; loaded when somebody asks.
  'chain/words/': ['domain/'],
  'chain/gateway/': [
    'domain/',
    'chain/json-rpc/',
    'chain/reading/',
    'chain/history/',
    'chain/archive/',
    'chain/fork/',
    'chain/node/',
    'chain/writing/',
    'chain/rounds/',
  ],
  'chain/': ['domain/'],
  // Runs a command through all scenarios and an exploration, and writes down what came of it in a form that can be checked.
  'certify/': [
    'domain/',
    'exec/',
    'explore/',
    'option-error.ts',
    'oracle/',
    'render/',
    'scenarios/',
    'verdict/',
    'version.ts',
  ],
  // Every word that the sandbox uses of clients, explained from where it is defined.
  'catalogue/': ['domain/', 'faults/', 'oracle/', 'package-root.ts', 'scenarios/', 'verdict/'],
  // Scripts for shells, made from the command line's own tree.
  'completion/': [],
  // Commands start a sandbox, talk to a running one, or read a fixture or scenario file without one.
  'cli/': [
    'catalogue/',
    'certify/',
    'completion/',
    'machine/',
    'project/',
    'package-root.ts',
    'option-error.ts',
    'check-options.ts',
    'options.ts',
    'read-fixture.ts',
    'sandbox/',
    'snapshot/',
    'version.ts',
    'control/client',
    'control/control-error',
    'control/contract',
    'control/mcp/',
    'control/trusting-fetch',
    'domain/',
    'exec/',
    'explore/',
    'faults/kinds/index.ts',
    'oracle/',
    'render/',
    'running/',
    'scenarios/',
    'traffic/',
    'verdict/',
    'yaml-file/file-error.ts',
  ],
  'control/': [
    'books/',
    'domain/',
    'faults/',
    'fidelity/',
    'oracle/',
    'overview/',
    'scenarios/',
    'traffic/',
    'verdict/',
  ],
  // What a person looks at: operations, money, transactions, and the stream of their changes.
  'overview/': ['domain/', 'faults/', 'oracle/', 'traffic/', 'verdict/'],
  // The page in the browser, and pages from files. It knows the types of the control interface and of the files that it shows, and how
  // text is made safe, and nothing else of the server.
  'inspector/': [
    'certify/certificate-document.ts',
    'control/contract.ts',
    'explore/exploration-document.ts',
    'render/safe-text.ts',
  ],
  'data-dir/': ['domain/ports/'],
  'domain/': [],
  // A team's state: the same journals as rows of PostgreSQL, and who owns them.
  'database/': ['domain/ports/'],
  // Runs a command against sandboxes that it starts, or within one that runs.
  'exec/': [
    'books/',
    'control/client',
    'control/contract',
    'control/control-parts.ts',
    'control/report-of',
    'domain/',
    'faults/',
    'option-error.ts',
    'options.ts',
    'oracle/',
    'render/',
    'running/',
    'sandbox/',
    'scenarios/',
    'verdict/',
    'version.ts',
    'yaml-file/',
  ],
  // Runs a command again and again, each time with another fault, and compares where the money ends up.
  'explore/': [
    'books/',
    'control/client',
    'control/contract',
    'control/report-of',
    'domain/',
    'exec/',
    'faults/',
    'option-error.ts',
    'options.ts',
    'oracle/',
    'render/',
    'running/',
    'sandbox/',
    'scenarios/',
    'traffic/',
    'verdict/',
    'version.ts',
  ],
  'faults/': ['domain/'],
  // Every rule of the specification and how closely it is kept: a document, as data.
  'fidelity/': ['domain/'],
  // Several processes as one: who does not own what a request is for passes it on.
  'fleet/': ['domain/'],
  'fixtures/': ['domain/', 'options.ts', 'yaml-file/'],
  'http/': ['control/', 'domain/', 'faults/', 'fidelity/', 'partner-api/', 'traffic/'],
  'identity/': ['domain/'],
  // What became of each operation, by the ledger and by what its client was told.
  'oracle/': ['domain/', 'traffic/'],
  // What of this machine a sandbox needs.
  'machine/': [
    'chain/node/anvil-process.ts',
    'control/client',
    'domain/',
    'package-root.ts',
    'read-fixture.ts',
    'yaml-file/file-error.ts',
  ],
  'partner-api/': ['domain/'],
  // What a partner's project shows of itself, and the files that let it be tested against a sandbox.
  'project/': ['exec/command-environment.ts', 'package-root.ts', 'version.ts'],
  // What every form shares: text made safe, wrapped, coloured, and the pages that src/inspector/documents/ makes.
  'render/': ['package-root.ts'],
  // The sandbox that runs for a folder: where that is written down, and how it is found.
  'running/': ['control/client', 'control/trusting-fetch', 'options.ts', 'version.ts'],
  'scenarios/': ['domain/', 'faults/', 'package-root.ts', 'verdict/finding-ids.ts', 'yaml-file/'],
  // The form of a saved state, as a file; the composition fills it and begins with it.
  'snapshot/': ['domain/', 'version.ts'],
  'store/': ['domain/'],
  'support/': [],
  'tls/': ['data-dir/private-file.ts', 'domain/'],
  // What clients sent and got, and what is to be said of it.
  'traffic/': ['domain/'],
  'verdict/': ['books/', 'domain/', 'oracle/', 'render/', 'traffic/'],
  'yaml-file/': [],
  // The composition: it builds the parts of every room and is itself above them.
  'sandbox/': COMPOSITION,
  'library/': COMPOSITION,
  // Test runners: one sandbox for a run, a namespace for each test.
  'runners/': COMPOSITION,
  'index.ts': COMPOSITION,
  // The handle without Node and without a sandbox of its own; scripts/build-client.mjs refuses a bundle that imports more than viem.
  'client.ts': ['library/', 'control/control-error.ts', 'option-error.ts'],
  'client-time.ts': [],
  'resolve-options.ts': COMPOSITION,
  'read-fixture.ts': COMPOSITION,
  'code-cache.ts': [],
  'real-time.ts': [],
  'option-error.ts': [],
  // One table: flags, fixture fields and documentation are made from it.
  'fleet-options.ts': [],
  'option-values.ts': [],
  'options.ts': ['fleet-options.ts', 'option-error.ts', 'option-values.ts'],
  'check-options.ts': ['option-error.ts', 'options.ts'],
  'package-root.ts': [],
  'version.ts': ['package-root.ts'],
}

// Packages that belong to one side of a port: the domain knows none of them.
const NOT_IN_DOMAIN = ['lowdb', '@fastify/', 'fastify', 'jose', 'viem', '@viem/', '@foundry-rs/', 'commander', 'yaml']

// Development dependencies that src/ may import: they are bundled into what is published.
const BUNDLED = [
  '@bitauth/libauth',
  'hash-wasm',
  '@peculiar/x509',
  'commander',
  'fastify',
  'jose',
  'lowdb',
  'ms',
  'pg',
  'pino',
  'preact',
  '@preact/signals-core',
  'preact-render-to-string',
  'pure-rand',
  'reflect-metadata',
  'ulid',
  'ws',
  'yaml',
]

// Packages that a project has if it uses the entry that imports them.
const PEERS = ['node_modules/vitest/']

const escaped = (path) => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const isFile = (room) => room.endsWith('.ts')
const pathOf = (room) => `^src/${escaped(room)}${isFile(room) ? '$' : ''}`

const rooms = Object.entries(ROOMS).map(([room, allowed]) => {
  if (!existsSync(join(__dirname, 'src', room))) throw new Error(`there is no src/${room}`)
  const within = Object.keys(ROOMS).filter((other) => other !== room && other.startsWith(room) && !isFile(room))
  const reachable = [room, SUPPORT, ...allowed]
  return {
    name: `room: ${room}`,
    comment: `src/${room} may import ${reachable.slice(1).join(', ') || 'any room'}`,
    severity: 'error',
    from: { path: pathOf(room), pathNot: within.map(pathOf) },
    to: { path: '^src/', pathNot: reachable.map((entry) => `^src/${escaped(entry)}`) },
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
        pathNot: [...BUNDLED.map((name) => `node_modules/${escaped(name)}/`), ...PEERS],
      },
    },
    {
      name: 'no undeclared dependencies',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: PEERS },
    },
    {
      name: 'the executable starts the command line',
      severity: 'error',
      from: { path: '^bin/' },
      to: { pathNot: '^dist/(code-cache|first-words)\\.js$', dependencyTypesNot: ['core'] },
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
