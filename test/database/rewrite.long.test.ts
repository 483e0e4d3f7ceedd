import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { UnparsedJournal } from '../../src/domain/ports/unparsed-journal.ts'
import { allEntries } from '../helpers/exercise-journal.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { openRegistry, openStorage } from './workbench.ts'

/** Entries of a ledger of 40 MB. */
const ENTRIES = Array.from({ length: 4_000 }, (_, n) => ({ n, text: 'x'.repeat(10_500) }))
/** Appends that find their turn at least while that is written: it waits for its own commits, of half a megabyte each. */
const BESIDE = 40

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start(['fsync=on'])
})
afterAll(() => server?.stop())

describe.skipIf(noPostgres !== undefined)(`a rewrite at length${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  it('of 40 MB holds up no append of another journal or namespace', async () => {
    const registry = await openRegistry(server.url(), { leaseMs: 600_000 })
    onTestFinished(() => registry.close())
    const storage = await openStorage(registry, 'large')
    const ledger = await storage.journal<unknown>('ledger')
    const others = {
      'another journal': await storage.journal<number>('chain-1'),
      'another namespace': await (await openStorage(registry, 'beside')).journal<number>('ledger'),
    }
    let ended = false
    const appendTimes = async (journal: UnparsedJournal<number>) => {
      const times: number[] = []
      while (!ended) times.push(await timed(() => journal.append(times.length)))
      return times
    }
    const rewritten = timed(() => ledger.rewrite(ENTRIES)).finally(() => {
      ended = true
    })
    const [whole, ...beside] = await Promise.all([rewritten, ...Object.values(others).map(appendTimes)])
    const roundTrips: number[] = []
    while (roundTrips.length < 100) roundTrips.push(await timed(() => registry.database.query('select')))

    console.log(`40 MB rewritten in ${Math.round(whole)} ms; round trip ${percentile(roundTrips, 50)} ms (p50)`)
    Object.keys(others).forEach((name, at) => {
      const times = beside[at] ?? []
      const [p50, p99, max] = [50, 99, 100].map((rank) => percentile(times, rank))
      console.log(`${times.length} appends to ${name} meanwhile: p50 ${p50}, p99 ${p99}, longest ${max} ms`)
      expect(times.length, name).toBeGreaterThan(BESIDE)
    })
    expect(ledger.size).toBeGreaterThan(40 * 2 ** 20)
    expect(await allEntries(ledger)).toEqual(ENTRIES)
  })
})

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function percentile(times: readonly number[], rank: number): string {
  const sorted = times.toSorted((a, b) => a - b)
  return (sorted[Math.ceil((sorted.length * rank) / 100) - 1] ?? 0).toFixed(1)
}
