import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { DEFAULT_FIXTURES, readFixture } from '../read-fixture.ts'
import { fixtureFrom } from '../sandbox/snapshot-fixture.ts'
import { endUsersOf } from '../snapshot/end-users-of.ts'
import { readSnapshot, type SnapshotContent } from '../snapshot/snapshot-content.ts'
import { aboutFile, readSnapshotFile } from '../snapshot/snapshot-path.ts'
import { SNAPSHOT_COLLECTIONS } from '../snapshot/snapshot-schema.ts'
import { besideFixture, copyAll } from './copy-all.ts'

/** Stands where a fork's address belongs, which no snapshot has. */
const SOME_NODE = 'http://127.0.0.1:8545'

/** A fixture file that was made, and sentences on what it does not have. */
export interface MadeFixture {
  file: string
  tenants: number
  end_users: number
  portfolios: number
  left_out: string[]
}

/**
 * Makes a fixture file from the snapshot of a file: tenants, pools, end users, portfolios with their principal. Throws SnapshotError,
 * FixtureError or OptionError.
 */
export async function fixtureFromSnapshot(path: string, directory: string): Promise<MadeFixture> {
  const bytes = await readSnapshotFile(path)
  const { content, made, keys } = await aboutFile(path, async () => contentOf(await readSnapshot(bytes)))
  const file = join(directory, 'sandbox.yaml')
  await copyAll(directory, besideFixture(directory), [file, join(directory, 'keys')])
  if (keys.length > 0) await mkdir(join(directory, 'keys'), { mode: 0o700 })
  for (const [name, pem] of keys) await writeFile(join(directory, name), pem, { mode: 0o600 })
  const head = `# yaml-language-server: $schema=./schema.json\n#\n# Made by: yield-sandbox fixtures from-snapshot\n`
  await writeFile(file, head + stringify(made, { lineWidth: 120 }), { mode: 0o600 })
  const { tenants } = await readFixture(file)
  const users = tenants.flatMap(({ end_users }) => end_users)
  return {
    file,
    tenants: tenants.length,
    end_users: users.length,
    portfolios: users.reduce((sum, { portfolios }) => sum + portfolios.length, 0),
    left_out: leftOut(content),
  }
}

/** The content of the fixture file, and the keys that it names, by file. */
async function contentOf(content: SnapshotContent) {
  const { about } = content
  const shipped = await readFixture(DEFAULT_FIXTURES)
  const forks = about.chains.flatMap(({ chain_id, forked }) =>
    forked ? [{ chain_id, fork: { url: SOME_NODE, origin: '' } }] : [],
  )
  const host = { fixture: { ...shipped, chains: forks }, starting: 'with own service section' } as const
  const { source, tenants } = await fixtureFrom(content, host)
  const { pools, service, chains, identity_provider } = source.content
  const keys: [file: string, pem: string][] = []
  const entries = about.tenants.map(({ tenant_id, user_keys }, i) => {
    const { key, end_users: _, ...entry } = source.content.tenants[i] ?? {}
    const { tenant } = tenants[i] ?? {}
    const end_users = endUsersOf(content, tenant_id)
    const isInFile = key !== undefined && 'private_key_file' in key
    if (isInFile || tenant?.private_key_pem === undefined) return { ...entry, key, end_users }
    if (user_keys) return { ...entry, key: 'jwks' in user_keys ? { jwks: user_keys.jwks } : user_keys, end_users }
    const file = `keys/${tenant.slug}.pem`
    keys.push([file, tenant.private_key_pem])
    return { ...entry, key: { kid: tenant.kid, private_key_file: file }, end_users }
  })
  const made = { ...(service && { service }), chains, pools, identity_provider, tenants: entries }
  return { content, made, keys }
}

/** What a fixture file cannot hold, as far as the snapshot has it. */
function leftOut({ about, puts }: SnapshotContent): string[] {
  const count = Object.fromEntries(
    SNAPSHOT_COLLECTIONS.map((name) => [name, puts.filter(([collection]) => collection === name).length]),
  )
  const { transactions = 0, transfers = 0, idempotency_keys = 0 } = count
  const now = new Date(about.clock.now).toISOString()
  const forks = about.chains.filter(({ forked }) => forked).map(({ chain_id }) => chain_id)
  const keys = about.tenants.filter(({ user_keys }) => !user_keys).map(({ slug }) => slug)
  const lines: [there: boolean, line: string][] = [
    [
      transactions > 0,
      `${transactions} transactions, their hashes and ids, and the yield so far: the principal is deposited anew`,
    ],
    [transfers > 0, `${transfers} transfers under way`],
    [idempotency_keys > 0, `${idempotency_keys} Idempotency-Keys and their answers`],
    [true, `business time ${now}: start with --clock to begin at a moment of yours`],
    [
      true,
      'client secrets and private keys, where they are not those of the demo data: each tenant has a secret of its own',
    ],
    [forks.length > 0, `what chain ${forks.join(', ')} is a fork of: replace the fork_url ${SOME_NODE}`],
    [keys.length > 0, `the jwks_uri of ${keys.join(', ')}: each has a key pair in keys/ instead`],
  ]
  return lines.flatMap(([there, line]) => (there ? [line] : []))
}
