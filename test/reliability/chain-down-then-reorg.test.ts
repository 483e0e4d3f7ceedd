import { randomUUID } from 'node:crypto'
import { setTimeout as wall } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { eventually } from '../helpers/eventually.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

const TIMES = 14
const USERS = ['carol', 'dave', 'erin']

let open: OpenSandbox
let ledger: Ledger
let control: ControlClient
beforeEach(async () => {
  open = await openSandbox()
  ledger = new Ledger(open)
  control = new ControlClient(open.sandbox.baseUrl)
})
afterEach(() => open.stop())

/** Deposits one after another, each under one key until it is answered with success, and keeps every hash it was told. */
async function depositUntil(over: () => boolean, user: string, hashes: string[]): Promise<void> {
  const portfolio = await open.acme.open(user, 'morpho-usdc')
  while (!over()) {
    const key = randomUUID()
    let answer = await open.acme.deposit(user, portfolio, '1000', { key })
    while (answer.status === 503) answer = await open.acme.deposit(user, portfolio, '1000', { key })
    expect(answer.status).toBe(200)
    hashes.push(answer.body.tx_hash)
  }
}

test('a chain that is cut off in the midst of a block, then reorganised, loses no transaction it told of', async () => {
  const random = new SeededRandom(8)
  const upTo = (milliseconds: number) => wall(random.next('moment') * milliseconds)
  const hashes: string[] = []
  let over = false
  const clients = Promise.all(USERS.map((user) => depositUntil(() => over, user, hashes)))
  const gone: string[] = []
  try {
    for (let time = 1; time <= TIMES; time++) {
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
})
