import { randomUUID } from 'node:crypto'
import { setTimeout as wall } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { SeededRandom } from '../../src/support/random.ts'
import { eventually } from '../helpers/eventually.ts'
import { Ledger, type OpenNamespace, openNamespace } from './ledger.ts'

const USERS = ['carol', 'dave', 'erin']

/** Deposits one after another, each under one key until it is answered with success, and keeps every hash it was told. */
async function depositUntil(
  { acme }: OpenNamespace,
  over: () => boolean,
  user: string,
  hashes: string[],
): Promise<void> {
  const portfolio = await acme.open(user, 'morpho-usdc')
  while (!over()) {
    const key = randomUUID()
    let answer = await acme.deposit(user, portfolio, '1000', { key })
    while (answer.status === 503) answer = await acme.deposit(user, portfolio, '1000', { key })
    expect(answer.status).toBe(200)
    hashes.push(answer.body.tx_hash)
  }
}

/** A chain is cut off in the midst of a block, then reorganised, so many times: it loses no transaction it told of. */
export async function expectNoneLost(times: number): Promise<void> {
  const open = await openNamespace()
  onTestFinished(() => open.stop())
  const { control } = open
  const ledger = new Ledger(open)
  const random = new SeededRandom(8)
  const upTo = (milliseconds: number) => wall(random.next('moment') * milliseconds)
  const hashes: string[] = []
  let over = false
  const clients = Promise.all(USERS.map((user) => depositUntil(open, () => over, user, hashes)))
  const gone: string[] = []
  try {
    for (let time = 1; time <= times; time++) {
      const before = hashes.length
      await eventually(() => expect(hashes.length).toBeGreaterThan(before + USERS.length), 5)
      await upTo(20)
      await control.addFaults([{ kind: 'chain_down', with: { for: '30ms' } }])
      await upTo(60)
      const [reorg] = await control.addFaults([{ kind: 'reorg' }])
      const struck = async () =>
        expect((await control.faults()).find(({ id }) => id === reorg!.id)).toMatchObject({ hits: 1 })
      await eventually(struck, 5)
    }
  } finally {
    over = true
    await clients
  }
  for (const hash of hashes) if ((await ledger.receipt(hash))?.status !== '0x1') gone.push(hash)
  expect(gone, `of ${hashes.length} transactions`).toEqual([])
  await ledger.expectSound()
}
