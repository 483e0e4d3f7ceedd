import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { BankRounds, ROUNDS } from './bank-rounds.ts'

// With planted faults, and behind PgBouncer: planted-faults.long.test.ts. Many rounds: histories.long.test.ts.
describe.skipIf(noPostgres)(`two competing processes${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  let server: Postgres
  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(() => server?.stop())

  test('show clients what one thing at a time explains, whatever becomes of the owner', async () => {
    const bank = await BankRounds.start({ url: (at) => server.url('postgres', at), port: server.port, seed: 5 })
    for (const kind of ROUNDS) {
      const { history, wrong } = await bank.play(kind)
      expect({ kind, wrong }).toEqual({ kind, wrong: [] })
      expect(history.length).toBeGreaterThan(20)
    }
  })
})
