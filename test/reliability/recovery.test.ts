import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import type { Store, Write } from '../../src/domain/ports/store.ts'
import type { Transfer } from '../../src/domain/records.ts'
import { rpc } from '../chain/chain-fixture.ts'
import type { Answer, Ask } from '../helpers/partner.ts'
import { Ledger, type OpenNamespace, openNamespace } from './ledger.ts'

// Two namespaces of one seed, clock and history stand for two sandboxes. What the first carries out to the end, the second has died of: it holds
// the same ledger with the signed transfers, and on its chain they are as far as they had come.
let whole: OpenNamespace
let died: OpenNamespace
/** Transfers the first sandbox has signed. */
let signed: Transfer[]
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

const storeOf = ({ sandbox }: OpenNamespace) => sandbox.namespace.services.service.store
const chainOf = ({ sandbox }: OpenNamespace) => sandbox.namespace.services.chains.started!.all()[0]!
const recover = ({ sandbox }: OpenNamespace) => sandbox.namespace.services.service.transfers.recover()
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

type Stage = 'signed' | 'broadcast' | 'mined'

/** Leaves the second sandbox as it is when it dies with these transfers at that stage. */
async function die(stage: Stage): Promise<void> {
  const chain = chainOf(died)
  await storeOf(died).commit(signed.map((put) => ({ collection: 'transfers', put })))
  if (stage === 'signed') return
  for (const { raw_transaction } of signed) await rpc(chain, 'eth_sendRawTransaction', raw_transaction)
  if (stage === 'mined') await rpc(chain, 'evm_mine', { timestamp: signed[0]!.block_timestamp })
}

/** A portfolio with something in it, a day old; the same in both. */
async function portfolio(pool: string, user = 'carol'): Promise<string> {
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

const place = ({ acme }: OpenNamespace, { operation, portfolio, amount, ask }: Order): Promise<Answer> =>
  acme[operation]('carol', portfolio, amount, ask)

/** The second sandbox stands as if it had never died, and says what the first said. */
async function expectWhole(orders: Order[], answers: Answer[]): Promise<void> {
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

const order = (operation: Order['operation'], portfolio: string, amount: string, headers = {}): Order => {
  return { operation, portfolio, amount, ask: { key: randomUUID(), headers } }
}

async function worth(portfolio: string): Promise<string> {
  const { body } = await whole.acme.get('end_users/carol/portfolios')
  return body.data.find(({ portfolio_id }: Record<string, string>) => portfolio_id === portfolio).total_balance
}

const STAGES: Stage[] = ['signed', 'broadcast', 'mined']
const CASES: [string, number, (jar: string) => Promise<Order> | Order][] = [
  ['a deposit', 200, (jar) => order('deposit', jar, '1234567')],
  ['a withdrawal', 200, (jar) => order('withdraw', jar, '1234567')],
  ['a withdrawal of everything', 200, async (jar) => order('withdraw', jar, await worth(jar))],
  ['a deposit that reverts', 422, (jar) => order('deposit', jar, '1234567', { 'x-sandbox-fault': 'revert' })],
]

describe.each(STAGES)('the sandbox dies when a transfer is %s', (stage) => {
  describe.each(['aave-usdc', 'morpho-usdc'])('%s', (pool) => {
    test.each(CASES)('%s is finished once, and answered as if nothing had happened', async (_, status, make) => {
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
    })
  })

  test('portfolios of one wallet are finished together', async () => {
    const jars = [await portfolio('aave-usdc'), await portfolio('morpho-usdc'), await portfolio('aave-usdc')]
    const orders = jars.map((jar) => order('deposit', jar, '1000000'))
    const answers = await Promise.all(orders.map((each) => place(whole, each)))
    expect(signed).toHaveLength(3)
    await die(stage)
    await recover(died)
    await expectWhole(orders, answers)
  })

  test('dying again in the middle of it changes nothing', async () => {
    const jars = [await portfolio('aave-usdc'), await portfolio('morpho-usdc'), await portfolio('aave-usdc')]
    const orders = jars.map((jar) => order('deposit', jar, '1000000'))
    const answers = await Promise.all(orders.map((each) => place(whole, each)))
    await die(stage)
    // Of the three, one is settled before the end, one in its last moment, one not at all.
    const mend = onCommit(storeOf(died), (_, nth, when) => {
      if ((nth === 2 && when === 'after') || nth === 3) throw new Error('killed')
    })
    await recover(died)
    mend()
    expect(await new Ledger(died).unsettled()).toBe(1)
    await recover(died)
    await expectWhole(orders, answers)
  })
})

describe('while the chain is silent', () => {
  test('transfers wait for it', async () => {
    const asked = order('deposit', await portfolio('aave-usdc'), '1000000')
    const answer = await place(whole, asked)
    await die('signed')
    chainOf(died).pause()
    const recovering = recover(died)
    await expect.poll(() => chainOf(died).status.ok).toBe(false)
    chainOf(died).resume()
    await recovering
    await expectWhole([asked], [answer])
  })

  test('whoever asks for them is told, and may ask again', async () => {
    const asked = order('deposit', await portfolio('aave-usdc'), '1000000')
    const answer = await place(whole, asked)
    await die('signed')
    // As the chain refuses while it carries others through.
    const chain = chainOf(died)
    vi.spyOn(chain, 'finish').mockRejectedValueOnce(new ChainUnavailableError(chain.chain_id, 'it does not answer'))
    await expect(recover(died)).rejects.toThrow(ChainUnavailableError)
    expect(await new Ledger(died).unsettled()).toBe(1)
    await recover(died)
    await expectWhole([asked], [answer])
  })

  test('a reset calls them off', async () => {
    const asked = order('deposit', await portfolio('aave-usdc'), '1000000')
    await place(whole, asked)
    await die('signed')
    chainOf(died).pause()
    const recovering = recover(died)
    await expect.poll(() => chainOf(died).status.ok).toBe(false)
    await died.sandbox.namespace.reset()
    await recovering
    await new Ledger(died).expectSound()
  })
})

test('a transfer that can never be mined is left for the audit to name, and keeps nobody waiting', async () => {
  const jars = [await portfolio('aave-usdc'), await portfolio('aave-usdc')]
  await place(whole, order('deposit', jars[0]!, '1000000'))
  await died.acme.deposit('carol', jars[0]!, '7') // takes its place among the wallet's transactions
  await die('signed')
  await recover(died)
  expect(await new Ledger(died).unsettled()).toBe(1)
  const { checks } = await died.sandbox.namespace.audit()
  expect(checks.find(({ id }) => id === 'transfers')).toMatchObject({ ok: false })
  expect((await died.acme.deposit('carol', jars[1]!, '7')).status).toBe(200)
})
