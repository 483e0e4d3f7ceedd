import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SeededRandom } from '../../src/support/random.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { BankRounds, ROUNDS } from './bank-rounds.ts'

/** `npm run test:fleet -- --rounds 1000 --seed 8` sets them. */
const { FLEET_ROUNDS = '30', FLEET_SEED = '1' } = process.env
const MINUTE_MS = 60_000

describe.skipIf(noPostgres)(`two competing processes${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  let server: Postgres
  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(() => server?.stop())

  test(
    `in ${FLEET_ROUNDS} rounds, seed ${FLEET_SEED}: every history can be explained`,
    async () => {
      const seed = Number(FLEET_SEED)
      const random = new SeededRandom(seed)
      const bank = await BankRounds.start({ url: (port) => server.url('postgres', port), port: server.port, seed })
      const counts = Object.fromEntries(ROUNDS.map((kind) => [kind, 0]))
      let requests = 0
      const began = performance.now()
      for (let round = 1; round <= Number(FLEET_ROUNDS); round++) {
        const kind = ROUNDS[Math.floor(random.next('kind') * ROUNDS.length)] ?? 'stop'
        const { history, wrong } = await bank.play(kind)
        counts[kind] = (counts[kind] ?? 0) + 1
        requests += history.length
        expect({ round, kind, wrong }).toEqual({ round, kind, wrong: [] })
        if (round % 50 === 0) console.log({ round, seconds: Math.round((performance.now() - began) / 1_000) })
      }
      console.log({ rounds: Number(FLEET_ROUNDS), ...counts, requests })
    },
    Number(FLEET_ROUNDS) * MINUTE_MS,
  )
})
