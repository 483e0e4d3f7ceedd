import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect } from 'vitest'
import type { Store, Write } from '../../src/domain/ports/store.ts'
import type { Transfer } from '../../src/domain/records.ts'
import { rpc } from '../chain/chain-fixture.ts'
import type { Answer, Ask } from '../helpers/partner.ts'
import { Ledger, type OpenNamespace, openNamespace } from './ledger.ts'

// Two namespaces of one seed, clock and history stand for two sandboxes. What the first carries out to the end, the second has died of: it holds
// the same ledger with the signed transfers, and on its chain they are as far as they had come.
export let whole: OpenNamespace
export let died: OpenNamespace
/** Transfers the first sandbox has signed. */
let signed: Transfer[]

/** Opens both before each test of a file, and stops them after it. */
export function openBoth(): void {
  beforeEach(async () => {
    const start = () => openNamespace({ clock: '2030-01-01T00:00:00Z' })
    const [one, other] = await Promise.all([start(), start()])
    whole = one
    died = other
    signed = []
    onCommit(storeOf(whole), (writes, _, when) => {
      for (const write of when === 'after' ? writes : []) {
        if (write.collection === 'transfers' && 'put' in write) signed.push(write.put)
      }
    })
  })
  afterEach(() => Promise.all([whole.stop(), died.stop()]))
}

const storeOf = ({ sandbox }: OpenNamespace) => sandbox.namespace.services.service.store
export const chainOf = ({ sandbox }: OpenNamespace) => sandbox.namespace.services.chains.started!.all()[0]!
export const recover = ({ sandbox }: OpenNamespace) => sandbox.namespace.services.service.transfers.recover()
const both = <T>(ask: (open: OpenNamespace) => Promise<T>) => Promise.all([ask(whole), ask(died)])

/** Has every commit watched, and failed before or after it is done. Returns what puts the store right again. */
function onCommit(
  store: Store,
  hook: (writes: readonly Write[], nth: number, when: 'before' | 'after') => void,
): () => void {
  const commit = store.commit.bind(store)
  let count = 0
  store.commit = async (writes) => {
    const nth = ++count
    hook(writes, nth, 'before')
    await commit(writes)
    hook(writes, nth, 'after')
  }
  return () => {
    store.commit = commit
  }
}

export type Stage = 'signed' | 'broadcast' | 'mined'

/** Leaves the second sandbox as it is when it dies with these transfers at that stage. */
export async function die(stage: Stage): Promise<void> {
  const chain = chainOf(died)
  await storeOf(died).commit(signed.map((put) => ({ collection: 'transfers', put })))
  if (stage === 'signed') return
  for (const { raw_transaction } of signed) await rpc(chain, 'eth_sendRawTransaction', raw_transaction)
  if (stage === 'mined') await rpc(chain, 'evm_mine', { timestamp: signed[0]!.block_timestamp })
}

/** A portfolio with something in it, a day old; the same in both. */
export async function portfolio(pool: string, user = 'carol'): Promise<string> {
  const [jar] = await both(async ({ acme, sandbox }) => {
    const opened = await acme.open(user, pool)
    await acme.deposit(user, opened, '5000000')
    sandbox.namespace.services.service.clock.advance(86_400_000)
    return opened
  })
  signed = []
  return jar
}

/** What partners are shown of an end user. */
async function shown({ acme }: OpenNamespace, user = 'carol'): Promise<unknown> {
  const lists = ['portfolios', 'transactions'].map((list) => acme.get(`end_users/${user}/${list}`))
  return (await Promise.all(lists)).map(({ body }) => body.data)
}

interface Order {
  operation: 'deposit' | 'withdraw'
  portfolio: string
  amount: string
  ask: Ask
}

export const place = ({ acme }: OpenNamespace, { operation, portfolio, amount, ask }: Order): Promise<Answer> =>
  acme[operation]('carol', portfolio, amount, ask)

/** The second sandbox stands as if it had never died, and says what the first said. */
export async function expectWhole(orders: Order[], answers: Answer[]): Promise<void> {
  expect(await shown(died)).toEqual(await shown(whole))
  for (const [i, order] of orders.entries()) {
    const { status, body, headers } = await place(died, { ...order, ask: { key: order.ask.key! } })
    expect({ status, body }).toEqual({ status: answers[i]!.status, body: answers[i]!.body })
    expect(headers.get('idempotency-key-replay')).toBe('true')
  }
  for (const open of [whole, died]) await new Ledger(open).expectAudited()
  const [user] = (await new Ledger(died).users()).filter(({ external_id }) => external_id === 'carol')
  const nonces = await both((open) => new Ledger(open).nonce(user!))
  expect(nonces[1]).toBe(nonces[0])
}

export const order = (operation: Order['operation'], portfolio: string, amount: string, headers = {}): Order => {
  return { operation, portfolio, amount, ask: { key: randomUUID(), headers } }
}

async function worth(portfolio: string): Promise<string> {
  const { body } = await whole.acme.get('end_users/carol/portfolios')
  return body.data.find(({ portfolio_id }: Record<string, string>) => portfolio_id === portfolio).total_balance
}

export const STAGES: Stage[] = ['signed', 'broadcast', 'mined']
/** A transfer, and the status that it is answered with. */
export const CASES: [name: string, status: number, make: (jar: string) => Promise<Order> | Order][] = [
  ['a deposit', 200, (jar) => order('deposit', jar, '1234567')],
  ['a withdrawal', 200, (jar) => order('withdraw', jar, '1234567')],
  ['a withdrawal of everything', 200, async (jar) => order('withdraw', jar, await worth(jar))],
  ['a deposit that reverts', 422, (jar) => order('deposit', jar, '1234567', { 'x-sandbox-fault': 'revert' })],
]

export const POOLS = ['aave-usdc', 'morpho-usdc'] as const

export async function finishedOnce(
  stage: Stage,
  pool: string,
  [, status, make]: (typeof CASES)[number],
): Promise<void> {
  const jar = await portfolio(pool)
  const asked = await make(jar)
  const answer = await place(whole, asked)
  expect(answer.status).toBe(status)
  await die(stage)
  await recover(died)
  await expectWhole([asked], [answer])
  const before = await shown(died)
  await recover(died)
  expect(await shown(died)).toEqual(before)
}

/** Deposits into three portfolios of one wallet, carried out in the first sandbox. */
async function threeDeposits(): Promise<{ orders: Order[]; answers: Answer[] }> {
  const jars = [await portfolio('aave-usdc'), await portfolio('morpho-usdc'), await portfolio('aave-usdc')]
  const orders = jars.map((jar) => order('deposit', jar, '1000000'))
  return { orders, answers: await Promise.all(orders.map((each) => place(whole, each))) }
}

export async function finishedTogether(stage: Stage): Promise<void> {
  const { orders, answers } = await threeDeposits()
  expect(signed).toHaveLength(3)
  await die(stage)
  await recover(died)
  await expectWhole(orders, answers)
}

export async function diesAgain(stage: Stage): Promise<void> {
  const { orders, answers } = await threeDeposits()
  await die(stage)
  // Of the three, one is settled before the end, one in its last moment, one not at all. After an Error the commit would be tried again.
  const mend = onCommit(storeOf(died), (_, nth, when) => {
    if ((nth === 2 && when === 'after') || nth === 3) throw Symbol('killed')
  })
  await recover(died)
  mend()
  expect(await new Ledger(died).unsettled()).toBe(1)
  await recover(died)
  await expectWhole(orders, answers)
}
