import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { objectionsTo } from '../../src/check-options.ts'
import { startCommand } from '../../src/cli/start-command.ts'
import { FixtureSchema } from '../../src/fixtures/fixture-schema.ts'
import { defaultOf, environmentOf, SANDBOX_OPTIONS, START_OPTIONS, type StartOption } from '../../src/options.ts'
import { constantsOf } from '../../src/support/issue-words.ts'

const ROOT = join(import.meta.dirname, '../..')

const INTRODUCTION = `# Options of a start

Each option of \`startSandbox\` is a flag of \`start\` and an environment variable as well; some may stand in section \`options\` of the
[fixture file](fixtures.md). A flag wins over the environment, the environment over the fixture file. An empty variable counts as
unset; those of \`--json\`, \`--quiet\`, \`--background\`, \`--fsync\` and \`--no-inspector\` take \`true\`, \`false\`, \`1\` and \`0\`. Made from
\`src/options.ts\` by \`npm run build:options\`; do not edit it.

Code gives durations as text or as milliseconds, sizes as text or as bytes; everywhere else they have a unit.

`

/** The pages that say more. */
const PAGES: Record<string, string> = {
  publicUrl: 'commands.md#addresses',
  tls: 'commands.md#https',
  tlsCert: 'commands.md#https',
  forkUrl: 'forks.md',
  dataDir: 'data-directory.md',
  database: 'commands.md#a-database',
  fleetPort: 'fleet.md',
  fleetHost: 'fleet.md',
  fleetAdvertise: 'fleet.md',
  snapshot: 'snapshots.md',
  fsync: 'data-directory.md#a-power-cut',
  maxNamespaces: 'namespaces.md',
  maxNodes: 'namespaces.md#at-rest-and-limits',
  namespaceIdle: 'namespaces.md#at-rest-and-limits',
  namespaceExpiry: 'namespaces.md#when-nobody-uses-it',
  quotaRequestsPerSecond: 'namespaces.md#quotas',
  quotaLedgerBytes: 'namespaces.md#quotas',
  quotaAnvils: 'namespaces.md#quotas',
  controlToken: 'namespaces.md#a-token-of-its-own',
  idleExit: 'background.md',
  background: 'background.md',
  recordExchanges: 'requests.md',
  inspector: 'inspector.md',
}

const ENTRIES = Object.entries(START_OPTIONS) as [keyof typeof START_OPTIONS, StartOption][]
const code = (text: string | undefined) => (text ? `\`${text}\`` : '')
const shownDefault = (option: StartOption) =>
  option.default === undefined ? defaultOf(option) : code(defaultOf(option))

test('docs/options.md is the table of options', async () => {
  const rows = ENTRIES.map(([name, option]) => {
    const { flag, fixture, schema } = option
    const words = constantsOf(schema)?.map((word) => code(String(word)))
    const meaning = words ? `${option.description}: ${words.join(', ')}` : option.description
    const page = PAGES[name]
    return [
      name in SANDBOX_OPTIONS ? code(name) : '',
      code(flag),
      flag && code(environmentOf(name)),
      code(fixture),
      shownDefault(option),
      page === undefined ? meaning : `${meaning} ([more](${page}))`,
    ]
  })
  const head = ['option', 'flag', 'environment', 'fixture file', 'default', 'meaning']
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`)
  await expect(INTRODUCTION + lines.join('')).toMatchFileSnapshot('../../docs/options.md')
})

test('the interface says the same defaults', async () => {
  const sources = await Promise.all(
    ['options', 'fleet-options'].map((name) => readFile(join(ROOT, `src/${name}.ts`), 'utf8')),
  )
  const interfaces = /export interface (?:Sandbox|Fleet)Options[^{]*\{(.*?)\n\}/s
  const members = sources.map((source) => interfaces.exec(source)?.[1] ?? '').join('\n')
  const found = [...members.matchAll(/@defaultValue (.*)\n[ *]*\/\s*(\w+)\?:/g)].map(([, text, name]) => [name, text])
  const expected = Object.entries(SANDBOX_OPTIONS).map(([name, option]) => [name, shownDefault(option)])
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
})

test('every default is a value that its option takes', () => {
  const defaults = Object.fromEntries(ENTRIES.map(([name, option]) => [name, option.default]))
  expect(objectionsTo(defaults)).toEqual([])
})

test('commander and the fixture file have the names of the table', () => {
  const flags = startCommand()
    .options.filter(({ hidden }) => !hidden)
    .map((flag) => flag.attributeName())
  expect(flags).toEqual(ENTRIES.flatMap(([name, { flag }]) => (flag === '' ? [] : [name])))
  const { properties } = FixtureSchema.properties.options
  expect(Object.keys(properties).toSorted()).toEqual(ENTRIES.flatMap(([, { fixture }]) => fixture ?? []).toSorted())
})
