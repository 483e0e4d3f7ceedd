import { createPublicKey, generateKeyPair } from 'node:crypto'
import { isDeepStrictEqual, promisify } from 'node:util'
import type { Jwk, Tenant } from '../domain/records.ts'
import { type Fixture, FixtureError } from '../fixtures/fixture.ts'
import { readInlineFixture } from '../read-fixture.ts'
import type { SnapshotContent } from '../snapshot/snapshot-content.ts'
import { SnapshotError } from '../snapshot/snapshot-error.ts'
import type { SnapshotAbout, SnapshotTenant } from '../snapshot/snapshot-schema.ts'
import { SeededRandom } from '../support/random.ts'

const generate = promisify(generateKeyPair)

/** The sandbox that loads a snapshot. */
export interface SnapshotHost {
  /** Fixture of the sandbox. What a snapshot lacks, keys and URLs, comes from there. */
  fixture: Fixture
  /** JSON-RPC of the real chain, for the only fork of the snapshot. */
  forkUrl?: string | undefined
  /** True if the sandbox is started with the snapshot: it may then set the section `service`. */
  starting?: 'with own service section' | 'with that of the host' | undefined
}

/** A key pair that is made for tenants whose private key is nowhere here. */
interface OwnKey {
  kid: string
  private_key_pem: string
  jwk: Jwk
}

/**
 * The fixture of a snapshot, completed by that of the sandbox. Client secrets and private keys are the sandbox's where it knows the tenant,
 * else fresh ones. Throws SnapshotError.
 */
export async function fixtureFrom({ about, chains }: SnapshotContent, host: SnapshotHost): Promise<Fixture> {
  const { fixture, starting } = host
  const own = about.tenants.every((tenant) => keysHere(tenant, fixture)) ? undefined : await freshKey()
  const given = {
    pools: about.pools,
    chains: about.chains.map(({ chain_id, forked, price_oracle }) => {
      if (!forked) return { chain_id }
      const block = chains.find((chain) => chain.chain_id === chain_id)?.checkpoint.forked
      return {
        chain_id,
        fork_url: forkUrl(chain_id, about, host),
        ...(block !== undefined && { fork_block_number: block }),
        ...(price_oracle !== undefined && { price_oracle }),
      }
    }),
    tenants: about.tenants.map((tenant) => entryOf(tenant, fixture, own)),
    ...(starting === 'with own service section' && about.service && { service: about.service }),
  }
  try {
    const read = await readInlineFixture(given, fixture, { starting: starting !== undefined })
    return own ? withPrivateKey(read, about, { host: fixture, own }) : read
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error
    const [first] = error.issues
    const problem = `its fixture cannot be used here: ${first?.path} ${first?.message}`
    throw new SnapshotError(problem, first?.fix.replace(/\.$/, '') ?? 'save the state again')
  }
}

function forkUrl(chainId: string, { chains }: SnapshotAbout, { fixture, forkUrl: given }: SnapshotHost): string {
  const only = chains.filter(({ forked }) => forked).length === 1
  const here = fixture.chains.find(({ chain_id, fork }) => chain_id === chainId && fork)?.fork?.url
  const url = (only ? given : undefined) ?? here
  if (url !== undefined) return url
  const fix = 'start with --fork-url, or with a fixture file that has a fork_url for this chain'
  throw new SnapshotError(`its chain ${chainId} is a fork, and this sandbox does not know of what`, fix)
}

/** Fields of a tenant that a snapshot does not have, or has in another form. */
function entryOf(tenant: SnapshotTenant, host: Fixture, own: OwnKey | undefined) {
  const { user_keys, ...entry } = tenant
  const known = clientHere(tenant, host)
  const client_secret = known?.client_secret ?? SeededRandom.secret()
  const key = keysHere(tenant, host) ?? (own && { jwks: { keys: [...publicKeysOf(user_keys), own.jwk] } })
  return { ...entry, ...(known && { client_id: known.client_id }), client_secret, key }
}

function clientHere({ tenant_id }: Pick<SnapshotTenant, 'tenant_id'>, { tenants }: Fixture): Tenant | undefined {
  return tenants.find(({ tenant }) => tenant.tenant_id === tenant_id)?.tenant
}

/** The field `key` of the same tenant in the fixture here, if its user tokens are verified by the same keys. */
function keysHere({ tenant_id, user_keys }: SnapshotTenant, host: Fixture) {
  const here = clientHere({ tenant_id }, host)?.user_keys
  const isSame = here && (isDeepStrictEqual(here, user_keys) || (user_keys === undefined && 'jwks_uri' in here))
  return isSame ? host.source.content.tenants.find((one) => one.tenant_id === tenant_id)?.key : undefined
}

/** Most keys of a set in a fixture file, less the sandbox's own. */
const MOST_KEYS = 99

function publicKeysOf(keys: SnapshotTenant['user_keys']): object[] {
  if (!keys) return []
  if ('jwks' in keys) return keys.jwks.keys.slice(0, MOST_KEYS)
  const { public_key_pem, kid } = keys
  try {
    return [jwkOf(public_key_pem, kid)]
  } catch {
    throw new SnapshotError(
      'the public key of a tenant cannot be read',
      'take another copy of the file, or save the state again',
    )
  }
}

async function freshKey(): Promise<OwnKey> {
  const { privateKey } = await generate('rsa', { modulusLength: 2048 })
  const private_key_pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const kid = `snapshot-${SeededRandom.secret().slice(0, 8)}`
  return { kid, private_key_pem, jwk: jwkOf(private_key_pem, kid) }
}

function jwkOf(pem: string, kid: string): Jwk {
  return { ...createPublicKey(pem).export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }
}

/** Lets the sandbox mint user tokens of the tenants whose private key it does not have. */
function withPrivateKey(read: Fixture, about: SnapshotAbout, { host, own }: { host: Fixture; own: OwnKey }): Fixture {
  const { kid, private_key_pem } = own
  const unknown = new Set(about.tenants.filter((tenant) => !keysHere(tenant, host)).map(({ tenant_id }) => tenant_id))
  const tenants = read.tenants.map((one) =>
    unknown.has(one.tenant.tenant_id) ? { ...one, tenant: { ...one.tenant, private_key_pem, kid } } : one,
  )
  return { ...read, tenants }
}
