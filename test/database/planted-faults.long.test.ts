import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noPgBouncer, noPostgres, PgBouncer, Postgres } from '../helpers/postgres.ts'
import { BankRounds, type BankSetup, type RoundKind } from './bank-rounds.ts'
import type { PlantedFault } from './planted-faults.ts'

/** Rounds in which a planted fault has to show. */
const MOST = 8

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

/** Two processes on a database of their own, behind PgBouncer if that is given. */
function rounds(name: string, { bouncer, ...setup }: Partial<BankSetup> & { bouncer?: PgBouncer } = {}) {
  server.createDatabase(name)
  const port = bouncer?.port ?? server.port
  return BankRounds.start({ url: (at) => server.url(name, at), port, seed: 5, ...setup })
}

/** What is wrong in the first round in which something is. */
async function wrongIn(bank: BankRounds, kind: RoundKind): Promise<string[]> {
  for (let round = 0; round < MOST; round++) {
    const { wrong } = await bank.play(kind)
    if (wrong.length > 0) return wrong
  }
  return []
}

describe.skipIf(noPostgres)(
  `what clients of two competing processes see, which one thing at a time should explain${noPostgres ? ` (${noPostgres})` : ''}`,
  () => {
    test.each<[PlantedFault, RoundKind, RegExp]>([
      ['gate', 'stop', /^stale: /m],
      ['owner', 'twice', /^(lost|altered|stale): /m],
      ['dead', 'stop', /^(stale|a process dropped what was still its own): /m],
      ['zero', 'cut', /^a process dropped what was still its own: /m],
    ])('is not, with the planted fault "%s"', async (fault, kind, shows) => {
      const bank = await rounds(`fault_${fault}`, { fault })
      expect((await wrongIn(bank, kind)).join('\n')).toMatch(shows)
    })
  },
)

describe.skipIf(noPgBouncer)(`behind PgBouncer${noPgBouncer ? ` (${noPgBouncer})` : ''}`, () => {
  let bouncer: PgBouncer
  beforeAll(async () => {
    bouncer = await PgBouncer.start(server, 2) // few, so that clients get others' connections
  })
  afterAll(() => bouncer?.stop())

  test('it is as well', async () => {
    const bank = await rounds('bouncer', { bouncer })
    for (const kind of ['stop', 'cut'] as const) expect((await bank.play(kind)).wrong).toEqual([])
  })

  test('it is not, with statements that have names', async () => {
    const bank = await rounds('names', { bouncer, fault: 'named', limitMs: 5_000 })
    expect(await wrongIn(bank, 'cut')).not.toEqual([])
  })
})
