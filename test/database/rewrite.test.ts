import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { allEntries } from '../helpers/exercise-journal.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { ownConnection } from './rows.ts'
import { openRegistry, openStorage } from './workbench.ts'

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

describe.skipIf(noPostgres !== undefined)(`a rewrite in PostgreSQL${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  it('holds up the appends to its own journal, and of no other', async () => {
    const registry = await openRegistry(server.url())
    onTestFinished(() => registry.close())
    const storage = await openStorage(registry, 'beside')
    const [ledger, chain] = [await storage.journal<unknown>('ledger'), await storage.journal<number>('chain-1')]
    await ledger.append('old')
    const order: string[] = []
    let after: Promise<void> | undefined
    async function* entries() {
      for (let i = 0; i < 12; i++) yield `${i}`.padEnd(2 ** 20, 'x')
      after = ledger.append('after').then(() => void order.push('own'))
      for (let n = 0; n < 5; n++) await chain.append(n)
      order.push('other')
      expect(await allEntries(ledger)).toEqual(['old'])
      yield 'last'
    }
    await ledger.rewrite(entries()).then(() => order.push('rewritten'))
    await after
    expect(order).toEqual(['other', 'rewritten', 'own'])
    expect(await allEntries(chain)).toEqual([0, 1, 2, 3, 4])
    expect((await allEntries(ledger)).map((entry) => String(entry).slice(0, 5).trim())).toHaveLength(14)
    expect(ledger.size).toBeGreaterThan(12 * 2 ** 20)
  })

  it('leaves nothing of what it replaced, or of what a dead process had begun', async () => {
    const registry = await openRegistry(server.url())
    onTestFinished(() => registry.close())
    const client = await ownConnection(server.url())
    const generations = async () => {
      const { rows } = await client.query(
        `select journal, generation, count(*)::int as count from yield_sandbox.entry where namespace = 'remains' group by 1, 2 order by 1, 2`,
      )
      return rows.map(({ journal, generation, count }) => `${journal} ${generation}: ${count}`)
    }
    const storage = await openStorage(registry, 'remains')
    const journal = await storage.journal<number>('ledger')
    for (let n = 0; n < 1_203; n += 3) await Promise.all([n, n + 1, n + 2].map((one) => journal.append(one)))
    const reader = journal.read()[Symbol.asyncIterator]()
    await reader.next()
    await journal.rewrite([1, 2])
    await journal.close() // when it resolves, what could be deleted is
    expect(await generations()).toEqual(['ledger 0: 401', 'ledger 1: 1'])
    await reader.return?.()
    await eventually(async () => expect(await generations()).toEqual(['ledger 1: 1']))
    await storage.close()
    for (const [generation, count] of [
      [0, 700],
      [2, 3],
    ]) {
      await client.query(
        `insert into yield_sandbox.entry select 'remains', 'ledger', $1, n, 1, 0, '7' from generate_series(10000, 9999 + $2::int) n`,
        [generation, count],
      )
    }
    const again = await openStorage(registry, 'remains')
    const reopened = await again.journal<number>('ledger')
    expect(await allEntries(reopened)).toEqual([1, 2])
    await again.begin('0.0.0')
    expect(await generations()).toEqual(['ledger 1: 1'])
    await reopened.rewrite([3])
    await reopened.append(4)
    expect(await allEntries(reopened)).toEqual([3, 4])
  })
})
