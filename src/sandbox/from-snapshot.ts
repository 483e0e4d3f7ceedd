import { isDeepStrictEqual } from 'node:util'
import type { ChainCopy } from '../chain/anvil-chain.ts'
import type { ArchiveSegment } from '../chain/archive/archived-block.ts'
import { KEY_BYTES, keyOf, segmentOf, unpackSegment } from '../chain/archive/archived-block.ts'
import type { Checkpoint } from '../chain/history/checkpoint.ts'
import type { Pool } from '../domain/records.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { readSnapshot, type SnapshotChain, type SnapshotContent } from '../snapshot/snapshot-content.ts'
import { damagedSnapshot, SnapshotError } from '../snapshot/snapshot-error.ts'
import type { SnapshotAbout, SnapshotPut } from '../snapshot/snapshot-schema.ts'
import type { LedgerEntry } from '../store/ledger-entry.ts'
import { breathe } from '../support/breathe.ts'
import { inChunks } from '../support/in-chunks.ts'
import { SeededRandom } from '../support/random.ts'
import type { NamespaceCopy } from './build-services.ts'
import { fixtureFrom, type SnapshotHost } from './snapshot-fixture.ts'
import { checkReferences } from './snapshot-references.ts'

/** A state that was read from a snapshot, from which a namespace can begin. */
export interface RestoredState {
  fixture: Fixture
  seed: number
  /** Milliseconds since the Unix epoch; undefined for real time. */
  clockStart: number | undefined
  /** Its business time, milliseconds since the Unix epoch. */
  now: number
  begin: NamespaceCopy
}

/**
 * Reads a snapshot for a sandbox. Business time goes on from where it stood; the time between is not counted. Throws SnapshotError if
 * anything of it is not as it should be, or it does not fit the sandbox, which it has not changed then.
 */
export async function restoreSnapshot(bytes: Uint8Array, host: SnapshotHost, wallNow: number): Promise<RestoredState> {
  const content = await readSnapshot(bytes)
  const { about, showings, chains } = content
  const fixture = await fixtureFrom(content, host)
  refuseOtherWorld(content, fixture)
  checkReferences(content)
  const { now, frozen } = about.clock
  const begin: NamespaceCopy = {
    ledger: ledgerEntries(content.puts, about.ledger),
    showings,
    // Another run of the same state, as after a restart: it issues ids that the first has not issued.
    random: new SeededRandom(about.seed, about.run + 1),
    ids: new Map(),
    clock: { offset: now - wallNow, frozen_at: frozen ? now : null },
    chains: new Map(await copiesOf(chains)),
    owesRepairs: about.owes_repairs,
  }
  return { fixture, seed: about.seed, clockStart: about.clock_start ?? undefined, now, begin }
}

/** Records of an entry; more would hold up other requests for too long. */
const RECORDS_PER_ENTRY = 256

function ledgerEntries(puts: readonly SnapshotPut[], as: SnapshotAbout['ledger']): LedgerEntry[] {
  const ofLedger = puts as Extract<LedgerEntry, { puts: unknown }>['puts'] // tenants are replaced by the fixture's
  return [...inChunks(ofLedger, RECORDS_PER_ENTRY)].map((chunk) => ({ ...as, puts: chunk, removes: [] }))
}

/** Throws SnapshotError if the pools, chains or protocols are others here than where the snapshot was taken. */
function refuseOtherWorld({ about, puts }: SnapshotContent, { settings, chains, tenants }: Fixture): void {
  const fix = 'load it with the version that wrote it, or start with the fixture file that it was taken with'
  const other = (what: string) => new SnapshotError(`it is of another world: ${what}`, fix)
  if (!isDeepStrictEqual(about.protocols, [...settings.protocols])) {
    throw other(
      `its protocols are called ${about.protocols.join(' and ')}, and here ${settings.protocols.join(' and ')}`,
    )
  }
  for (const { chain_id, price_oracle } of about.chains) {
    const here = chains.find((chain) => chain.chain_id === chain_id)
    if (here?.price_oracle === price_oracle) continue
    throw other(`chain ${chain_id} has the price oracle ${price_oracle}, and here ${here?.price_oracle}`)
  }
  const own = new Map(tenants.flatMap(({ pools }) => pools).map((pool) => [placeOf(pool), pool]))
  const theirs = puts.flatMap(([collection, , record]) => (collection === 'pools' ? [record as Pool] : []))
  for (const pool of theirs) {
    const here = own.get(placeOf(pool))
    if (here && isDeepStrictEqual({ ...here }, { ...pool })) continue
    const place = here ? `at ${here.market_address} on chain ${here.chain_id}` : 'not there'
    throw other(`its pool ${pool.pool_id} is at ${pool.market_address} on chain ${pool.chain_id}, and here ${place}`)
  }
  const tenantsHeld = puts.filter(([collection]) => collection === 'tenants').length
  if (theirs.length !== own.size || tenantsHeld !== tenants.length) {
    throw damagedSnapshot('its ledger does not hold the tenants and pools that it names')
  }
}

function placeOf({ tenant_id, pool_id }: Pool): string {
  return `${tenant_id}/${pool_id}`
}

async function copiesOf(chains: readonly SnapshotChain[]): Promise<[string, ChainCopy][]> {
  const copies: [string, ChainCopy][] = []
  for (const { chain_id, checkpoint, blocks } of chains) {
    const archived = blocks.map(segmentOf)
    await checkBlocks(chain_id, archived, Number(checkpoint.block.number))
    const history = { checkpoint: checkpoint as Checkpoint, operations: [] }
    copies.push([chain_id, { history, archived, survey: undefined }]) // the markets are checked anew
  }
  return copies
}

/** Most bytes that the blocks of a segment come to: a sandbox packs about one megabyte. */
const SEGMENT_LIMIT = 64 * 2 ** 20

/** Throws SnapshotError unless the blocks follow each other up to the last one, and can be answered from. */
async function checkBlocks(chainId: string, segments: readonly ArchiveSegment[], last: number): Promise<void> {
  let next = segments[0]?.first ?? last + 1
  for (const segment of segments) {
    const transactions = segment.counts.reduce((sum, count) => sum + count, 0)
    const sizes = [segment.hashes.length, segment.transactions.length]
    const right = [segment.counts.length * KEY_BYTES, transactions * (KEY_BYTES + 1)]
    const isSound = segment.first === next && isDeepStrictEqual(sizes, right) && (await isUnpackable(segment))
    if (!isSound) throw damagedSnapshot(`the blocks of chain ${chainId} from ${segment.first} on cannot be read`)
    next = segment.last + 1
    await breathe()
  }
  if (next !== last + 1) throw damagedSnapshot(`the blocks of chain ${chainId} end before block ${last}`)
}

async function isUnpackable(segment: ArchiveSegment): Promise<boolean> {
  try {
    const blocks = await unpackSegment(segment, SEGMENT_LIMIT)
    return (
      blocks.length === segment.counts.length &&
      blocks.every(({ block, receipts }, i) => {
        const isOwn = segment.hashes.readUIntBE(i * KEY_BYTES, KEY_BYTES) === keyOf(block.hash)
        const logs = receipts.every((receipt) => Array.isArray(receipt.logs))
        const lengths = [block.transactions.length, receipts.length]
        return (
          isOwn && logs && Number(block.number) === segment.first + i && lengths.every((n) => n === segment.counts[i])
        )
      })
    )
  } catch {
    return false
  }
}
