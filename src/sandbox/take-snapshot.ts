import { entryOf } from '../chain/archive/archived-block.ts'
import { Problem } from '../domain/errors.ts'
import type { Fixture, FixtureTenant } from '../fixtures/fixture.ts'
import { refuseUnlessReady } from '../http/pipeline.ts'
import { SnapshotError } from '../snapshot/snapshot-error.ts'
import { type SnapshotPart, writeSnapshot } from '../snapshot/snapshot-form.ts'
import type { SnapshotAbout, SnapshotTenant } from '../snapshot/snapshot-schema.ts'
import type { LedgerChanges, LedgerEntry } from '../store/ledger-entry.ts'
import { Segment, UnpackedSegments } from '../store/segment.ts'
import { inChunks } from '../support/in-chunks.ts'
import type { NamespaceCopy } from './build-services.ts'
import type { Namespace } from './namespace.ts'

type Put = LedgerChanges['puts'][number]

/** Most records in a part. */
const RECORDS_PER_PART = 256

/**
 * The present state of a namespace as text: ledger, chains and clock, without secrets. Transfers wait meanwhile, for a moment. Throws
 * ChainUnavailableError, and Problem sandbox_starting or service_unavailable.
 */
export async function takeSnapshot(namespace: Namespace): Promise<string> {
  refuseUnlessReady(namespace.http.notReady())
  const copy = await namespace.copy({ condensed: true })
  try {
    return await writeSnapshot(partsOf(namespace, copy))
  } catch (error) {
    if (error instanceof SnapshotError) throw new Problem('service_unavailable', { detail: error.message })
    throw error
  }
}

function* partsOf(namespace: Namespace, copy: NamespaceCopy): Iterable<SnapshotPart> {
  yield { name: 'about', value: aboutOf(namespace, copy) }
  for (const puts of inChunks(withoutSecrets(putsOf(copy.ledger)), RECORDS_PER_PART))
    yield { name: 'ledger', value: puts }
  for (const value of inChunks(copy.showings, RECORDS_PER_PART)) yield { name: 'showings', value }
  for (const [chainId, { history, archived }] of copy.chains) {
    yield { name: `chain-${chainId}`, value: history.checkpoint }
    for (const segment of archived) yield { name: `blocks-${chainId}`, value: entryOf(segment) }
  }
}

function aboutOf(
  namespace: Namespace,
  { clock, ledger, random, owesRepairs, chains: copies }: NamespaceCopy,
): SnapshotAbout {
  const { fixture, services } = namespace
  const { clock: running } = services.service
  const { content } = fixture.source
  return {
    taken_at: new Date(running.wallNow()).toISOString(),
    namespace: namespace.name,
    seed: namespace.seed,
    run: random.run,
    clock: { now: clock.frozen_at ?? running.wallNow() + clock.offset, frozen: clock.frozen_at !== null },
    clock_start: namespace.clockStart ?? null,
    owes_repairs: owesRepairs,
    ledger: {
      sequence: ledger.reduce((last, entry) => ('puts' in entry ? Math.max(last, entry.sequence) : last), 0),
      at: ledger.reduce((last, entry) => ('puts' in entry ? Math.max(last, entry.at ?? 0) : last), 0),
    },
    protocols: [...fixture.settings.protocols],
    chains: fixture.chains
      .filter(({ chain_id }) => copies.has(chain_id))
      .map(({ chain_id, price_oracle, fork }) => ({
        chain_id,
        forked: fork !== undefined,
        ...(price_oracle !== undefined && { price_oracle }),
      })),
    ...(content.service && { service: content.service }),
    pools: content.pools,
    tenants: tenantsOf(fixture),
  }
}

/** The tenants as the fixture file has them, with public keys in the place of all else that it says of keys, and without secrets. */
function tenantsOf({ source, tenants }: Fixture): SnapshotTenant[] {
  const byId = new Map(tenants.map((one): [string, FixtureTenant] => [one.tenant.tenant_id, one]))
  return source.content.tenants.map(({ key: _, client_secret: __, ...entry }) => {
    const keys = byId.get(entry.tenant_id)?.tenant.user_keys
    return { ...entry, ...(keys && !('jwks_uri' in keys) && { user_keys: keys }) }
  })
}

/** Every record, also those that the ledger has packed. */
function* putsOf(ledger: readonly LedgerEntry[]): Iterable<Put> {
  const unpacked = new UnpackedSegments()
  for (const entry of ledger) {
    if ('puts' in entry) {
      yield* entry.puts
      continue
    }
    const gone = new Set(entry.gone)
    for (const [place, json] of new Segment(entry, unpacked).unpack().entries()) {
      if (!gone.has(place)) yield [entry.packed, entry.sequences[place] ?? 0, JSON.parse(json)]
    }
  }
}

function* withoutSecrets(puts: Iterable<Put>): Iterable<Put | [string, number, { tenant_id: string }]> {
  for (const put of puts) {
    const [collection, sequence, record] = put
    yield collection === 'tenants' && 'tenant_id' in record
      ? [collection, sequence, { tenant_id: record.tenant_id }]
      : put
  }
}
