import type { Command } from 'commander'
import type { Credentials, NamespaceSummary, NamespaceWish } from '../control/contract.ts'
import { readFixtureContent } from '../read-fixture.ts'
import { readSnapshotFile } from '../snapshot/snapshot-path.ts'
import { type ControlFlags, clientOf, commandGroup, print, sandboxCommand } from './control-options.ts'
import { wholeNumber } from './parse-argument.ts'

interface CreateFlags extends ControlFlags {
  fixtures?: string
  seed?: number
  clock?: string
  confirmationDelay?: string
  from?: string
  snapshot?: string
}

/** `namespaces list|create|delete`: isolated copies of everything behind the API of a running sandbox. */
export function namespacesCommand(): Command {
  const commands = [listCommand(), createCommand(), deleteCommand()]
  return commandGroup('namespaces', 'Namespaces of a running sandbox.', commands)
}

function listCommand(): Command {
  return sandboxCommand('list', 'List the namespaces: name, ready or not and why, seed, since when, tenants.', [
    'namespaces list',
    'namespaces list --json',
  ]).action(async (flags: ControlFlags) => {
    const namespaces = await clientOf(flags).namespaces()
    const row = ({ name, ready, reason, seed, created_at, tenants }: NamespaceSummary) => {
      return [name, ready ? 'ready' : `not ready: ${reason}`, seed, created_at, tenants.join(',')]
    }
    print(flags, namespaces, namespaces.map(row), ['namespace', 'state', 'seed', 'since', 'tenants'])
  })
}

function createCommand(): Command {
  return sandboxCommand('create', 'Make a namespace. Prints what a client needs to connect to it.', [
    'namespaces create',
    'namespaces create pull-request-7 --json',
    'namespaces create winter --clock 2030-01-01T00:00:00Z --confirmation-delay 0',
    'namespaces create two-tenants --fixtures ./two-tenants.yaml --seed 7',
    'namespaces create retry --from pull-request-7',
    'namespaces create report-42 --snapshot ./report-42.snapshot',
  ])
    .argument('[name]', 'of a-z, 0-9 and - (default: one that nobody has)')
    .option('--fixtures <file>', 'YAML or JSON file to seed it from; sections left out are those of the sandbox')
    .option('--seed <n>', 'every random choice in it derives from it', wholeNumber)
    .option('--clock <iso>', 'moment its clock starts at, frozen')
    .option('--confirmation-delay <d>', '0, 2s, 5s-30s or realistic')
    .option('--from <name>', 'copy this namespace as it is now (default: the default one as it was seeded)')
    .option('--snapshot <file>', 'begin with the state that was saved in this file')
    .action(async (name: string | undefined, flags: CreateFlags) => {
      const credentials = await clientOf(flags).createNamespace(await wishOf(name, flags))
      print(flags, credentials, rowsOf(credentials), ['what', 'value', 'of'])
    })
}

function deleteCommand(): Command {
  return sandboxCommand('delete', 'End a namespace. Requests it holds are answered 503.', [
    'namespaces delete pull-request-7',
  ])
    .argument('<name>', 'which one')
    .action(async (name: string, flags: ControlFlags) => {
      await clientOf(flags).deleteNamespace(name)
      print(flags, { deleted: true }, [['deleted']])
    })
}

async function wishOf(name: string | undefined, flags: CreateFlags): Promise<NamespaceWish> {
  const { fixtures: file, seed, clock, confirmationDelay: confirmation_delay, from, snapshot: path } = flags
  const fixtures = file === undefined ? undefined : await readFixtureContent(file)
  const snapshot = path === undefined ? undefined : (await readSnapshotFile(path)).toString('latin1')
  const wishes = { name, fixtures, seed, clock, confirmation_delay, from, snapshot }
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined))
}

/** One row per field: its name, then its values. */
function rowsOf(credentials: Credentials): unknown[][] {
  const { namespace, base_url, auth_url, control_url, control_token, rpc_urls, audience, scope, seed, tenants } =
    credentials
  return [
    ...Object.entries({ namespace, base_url, auth_url, control_url, ...(control_token && { control_token }) }),
    ...Object.entries(rpc_urls).map(([chainId, url]) => ['rpc_url', url, chainId]),
    ...Object.entries({ audience, scope, seed }),
    ...tenants.flatMap(({ slug, client_id, client_secret, end_users }) => [
      ['client_id', client_id, slug],
      ['client_secret', client_secret, slug],
      ['end_users', end_users.join(','), slug],
    ]),
  ]
}
