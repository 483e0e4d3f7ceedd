import { randomUUID } from 'node:crypto'
import { encodeFunctionData, parseAbi } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TransactionDetail, TransactionRow } from '../../src/control/contract.ts'
import type { Hex } from '../../src/domain/records.ts'
import { type OpenNamespace, openNamespace } from '../reliability/ledger.ts'

const DAY = 86_400_000
const ERC20 = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])

let open: OpenNamespace
beforeEach(async () => {
  open = await openNamespace({ clock: '2026-01-05T10:00:00Z' })
})
afterEach(() => open.stop())

const services = () => open.sandbox.namespace.services
const clock = () => services().service.clock
const rows = async (query = {}) => (await open.control.transactions(query)).transactions
const newest = async () => (await rows({ limit: 1 }))[0]!
const detail = (hash: string) => open.control.transaction(hash)
const sentences = (list: readonly Pick<TransactionRow, 'sentence'>[]) => list.map(({ sentence }) => sentence)
const events = ({ events: list }: TransactionDetail) => list.map(({ sentence }) => sentence)

async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
  const [chain] = services().chains.all()
  const answer = JSON.parse((await chain!.relay({ jsonrpc: '2.0', id: 1, method, params })) ?? '{}')
  if (answer.error) throw new Error(answer.error.message)
  return answer.result as T
}

/** Sends a transaction from one of Anvil's own accounts, and has it mined. */
async function send(fields: { to?: string; data?: Hex; from?: string; value?: Hex; gas?: Hex }): Promise<string> {
  const [account] = await rpc<string[]>('eth_accounts')
  const hash = await rpc<string>('eth_sendTransaction', { from: account, gasPrice: '0x0', ...fields })
  await rpc('evm_mine')
  return hash
}

const short = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`.toLowerCase()

describe('in words', () => {
  test('the fixture deposit is the first one, by nobody on record', async () => {
    const { chain_id, transactions, next_before, chains, unavailable } = await open.control.transactions()
    expect(transactions).toMatchObject([
      {
        sentence: 'Supply 2,500.00 USDC to Aave for alice.',
        status: 'success',
        at: '2026-01-05T10:00:00.000Z',
        operation_number: null,
        tenant: 'acme',
        external_id: 'alice',
      },
    ])
    expect({ chain_id, next_before, unavailable }).toEqual({ chain_id: '31337', next_before: null, unavailable: null })
    expect(chains).toMatchObject([{ chain_id: '31337', at: '2026-01-05T10:00:00.000Z' }])
  })

  test('a deposit and a withdrawal at Aave: operation, block, gas, call and events', async () => {
    const jar = await open.acme.open('carol')
    const { body } = await open.acme.deposit('carol', jar, '1000000000')
    const { number, request_id } = (await open.control.requests({ limit: 1 })).data[0]!
    const supplied = await detail(body.tx_hash)
    expect(supplied).toMatchObject({
      sentence: 'Supply 1,000.00 USDC to Aave for carol.',
      tx_hash: body.tx_hash,
      status: 'success',
      tenant: 'acme',
      external_id: 'carol',
      call: 'supply(asset: USDC, amount: 1,000.00 USDC, onBehalfOf: carol, referralCode: 0)',
      revert_reason: null,
      request_ids: [request_id],
    })
    expect(supplied.operation_number).toBe(number)
    expect(supplied.gas_used).toBeGreaterThan(100_000)
    expect(supplied.gas_used).toBeLessThan(supplied.gas_limit)
    expect(supplied.input).toMatch(/^0x617ba037/)
    expect(events(supplied)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Aave now pays \d+\.\d\d % a year on USDC\.$/),
        '1,000.00 USDC went from carol to aUSDC.',
        '1,000.00 aUSDC went from nobody to carol.',
        '1,000.00 USDC was supplied to Aave for carol.',
      ]),
    )
    expect(supplied.events.map(({ name }) => name)).not.toContain(null)
    clock().advance(30 * DAY)
    const withdrawn = await detail((await open.acme.withdraw('carol', jar, '400000000')).body.tx_hash)
    expect(withdrawn.sentence).toBe('Withdraw 400.00 USDC from Aave to carol.')
    expect(withdrawn.at).toBe('2026-02-04T10:00:00.000Z')
    expect(events(withdrawn)).toContain('400.00 USDC was withdrawn from Aave by carol to carol.')
  })

  test('a vault: deposit, withdrawal, and everything, whose amount its event says', async () => {
    const jar = await open.acme.open('carol', 'morpho-usdc')
    await open.acme.deposit('carol', jar, '1000000000')
    expect((await newest()).sentence).toBe('Deposit 1,000.00 USDC into Morpho for carol.')
    await open.acme.withdraw('carol', jar, '250000000')
    expect((await newest()).sentence).toBe('Withdraw 250.00 USDC from Morpho to carol.')
    const { total_balance } = (await open.acme.get('end_users/carol/portfolios')).body.data[0]
    const { body } = await open.acme.withdraw('carol', jar, total_balance)
    const last = await newest()
    expect(last.tx_hash).toBe(body.tx_hash)
    expect(last.sentence).toMatch(/^Withdraw (749\.99\d+|750\.00) USDC from Morpho to carol\.$/)
    expect((await detail(body.tx_hash)).call).toMatch(/^redeem\(shares: \d+, receiver: carol, owner: carol\)$/)
  })

  test('an operation that was paid twice has both of its transactions', async () => {
    const jar = await open.acme.open('carol')
    const headers = { 'x-sandbox-fault': 'drop_connection; how=reset; phase=after_confirmation' }
    await expect(open.acme.deposit('carol', jar, '5000000', { headers })).rejects.toThrow()
    await open.acme.deposit('carol', jar, '5000000', { key: randomUUID() })
    const [second, first] = await rows({ limit: 2 })
    expect(first!.operation_number).not.toBeNull()
    expect(second!.operation_number).toBe(first!.operation_number)
    expect((await detail(second!.tx_hash)).request_ids).toHaveLength(2)
  })

  test('set-up of a market by faults', async () => {
    const [aave, vault] = [await open.acme.open('carol'), await open.acme.open('carol', 'morpho-usdc')]
    const setUp = async () => sentences((await rows({ limit: 5 })).filter(({ external_id }) => external_id === null))
    await open.control.addFaults([{ kind: 'apy_change', with: { pool: 'morpho-weth', apy: 0.5 } }])
    await open.acme.get('pools')
    expect(await setUp()).toEqual(['Set the yearly rate of Morpho to 50.00 %.'])
    await open.control.addFaults([{ kind: 'pool_paused', with: { pool: 'aave-usdc' } }])
    expect((await open.acme.deposit('carol', aave, '5000000')).status).toBe(422)
    await open.control.addFaults([{ kind: 'pool_paused', with: { pool: 'morpho-usdc' } }])
    expect((await open.acme.deposit('carol', vault, '5000000')).status).toBe(422)
    expect((await setUp()).slice(0, 2)).toEqual(['Pause Morpho.', 'Pause USDC at Aave.'])
  })

  test("a token's transfer that somebody else sent, coins, a new contract, and an unknown call", async () => {
    const { token_address } = await open.acme.pool('aave-usdc')
    const { wallet_address: alice } = (await open.acme.post('end_users', { external_id: 'alice' })).body
    const [account] = await rpc<string[]>('eth_accounts')
    await rpc('anvil_dealERC20', account, token_address, '0x5f5e100')
    const data = encodeFunctionData({ abi: ERC20, functionName: 'transfer', args: [alice, 5_000_000n] })
    const hash = await send({ to: token_address!, data })
    expect(await detail(hash)).toMatchObject({
      sentence: `Send 5.00 USDC from ${short(account!)} to alice.`,
      operation_number: null,
      tenant: null,
      external_id: null,
      request_ids: [],
      from: account,
      to: token_address!.toLowerCase(),
      events: [{ name: 'Transfer', contract: 'USDC', sentence: `5.00 USDC went from ${short(account!)} to alice.` }],
    })
    await send({ to: alice, value: '0xde0b6b3a7640000' })
    expect((await newest()).sentence).toBe(`Send 1.00 of the chain's coin from ${short(account!)} to alice.`)
    await send({ data: '0x00' })
    expect((await newest()).sentence).toBe(`${short(account!)} makes a contract.`)
    const unknown = await send({ to: alice, data: '0xdeadbeef' })
    expect(await detail(unknown)).toMatchObject({ sentence: 'Call 0xdeadbeef of alice.', call: null, events: [] })
  })
})

describe('what a hostile contract emits', () => {
  /** Puts code at an address that emits one event, with these topics and 32 bytes of data, and calls it. */
  async function emitted(topics: readonly string[]): Promise<TransactionDetail> {
    const push = topics.toReversed().map((topic) => `7f${topic.slice(2)}`)
    const code = `0x7f${'ff'.repeat(32)}600052${push.join('')}60206000a${topics.length}00`
    const address = `0x${'bad0'.repeat(10)}`
    await rpc('anvil_setCode', address, code)
    return detail(await send({ to: address, data: '0x12345678' }))
  }
  const topic = (digits: string) => `0x${digits.repeat(64 / digits.length)}`
  const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

  test.each([
    ['without a topic', [], 'emitted an event without a name.'],
    ['unknown', [topic('5c')], `emitted ${topic('5c')}, which is unknown.`],
    ['a Transfer with too few topics', [TRANSFER], `emitted ${TRANSFER}, which is unknown.`],
    [
      'a Transfer of four topics',
      [TRANSFER, topic('1'), topic('2'), topic('3')],
      `emitted ${TRANSFER}, which is unknown.`,
    ],
  ])('is shown as what it is: %s', async (_, topics, sentence) => {
    const { events: list } = await emitted(topics)
    expect(list).toEqual([
      { sentence: `0xbad0…bad0 ${sentence}`, name: null, contract: '0xbad0…bad0', address: `0x${'bad0'.repeat(10)}` },
    ])
  })

  test('is not taken for a token that is known', async () => {
    const address = `0x${'0'.repeat(24)}${'1'.repeat(40)}`
    const { events: list } = await emitted([TRANSFER, address, address])
    expect(list).toMatchObject([{ name: 'Transfer', sentence: expect.stringContaining('any amount of 0xbad0…bad0') }])
  })
})

describe('failed ones', () => {
  test('say why: out of gas, or what the market says', async () => {
    const jar = await open.acme.open('carol')
    await open.acme.deposit('carol', jar, '5000000', { headers: { 'x-sandbox-fault': 'revert' } })
    const failed = await newest()
    expect(failed).toMatchObject({ status: 'reverted', sentence: 'Supply 5.00 USDC to Aave for carol.' })
    expect(failed.operation_number).not.toBeNull()
    expect(await detail(failed.tx_hash)).toMatchObject({ revert_reason: 'it ran out of gas', events: [] })
    const vault = await open.acme.open('carol', 'morpho-usdc')
    for (const [portfolio, pool, reason] of [
      [jar, 'aave-usdc', /paused/i],
      [vault, 'morpho-usdc', /^ERC4626ExceededMaxDeposit\(0x\w+, 5000000, 0\)$/],
    ] as const) {
      await open.control.addFaults([{ kind: 'pool_paused', with: { pool } }])
      expect((await open.acme.deposit('carol', portfolio, '5000000')).status).toBe(422)
      const reverted = (await rows({ limit: 5 })).find(({ status }) => status === 'reverted')!
      expect((await detail(reverted.tx_hash)).revert_reason).toMatch(reason)
    }
  })
})

describe('pending ones', () => {
  test('are signed, and stand in no block: shown first, in words, also while the chain is down', async () => {
    const jar = await open.acme.open('carol')
    const { body } = await open.acme.deposit('carol', jar, '5000000')
    const { input, ...known } = await detail(body.tx_hash)
    const { store } = services().service
    const user = store.find('end_users', 'external_id', `${open.tenant.tenant_id}/carol`)!
    // The bytes of another chain's life: the same call, signed for a nonce that is not reached.
    const other = await openNamespace({ seed: 8 })
    const there = await other.acme.open('carol')
    const { tx_hash } = (await other.acme.deposit('carol', there, '7000000')).body
    const [chain] = other.sandbox.namespace.services.chains.all()
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_getRawTransactionByHash', params: [tx_hash] }
    const raw = JSON.parse((await chain!.relay(call))!).result as Hex
    await store.commit([
      {
        collection: 'transfers',
        put: {
          ...{ id: 'txn_pending', end_user_id: user.id, portfolio_id: jar, type: 'deposit', chain_id: '31337' },
          ...{ tx_hash, raw_transaction: raw, amount: '7000000', value_before: '0', block_timestamp: 1 },
          ...{ claim: null, signed_at: clock().iso() },
        },
      },
    ])
    const pending = { tx_hash, status: 'pending', block_number: null, at: null, external_id: 'carol' }
    const [first, second] = await rows()
    expect(first).toMatchObject(pending)
    expect(first!.sentence).toMatch(/^Supply 7\.00 USDC to Aave for 0x/) // the other namespace's wallet
    expect(second!.tx_hash).toBe(body.tx_hash)
    expect(await detail(tx_hash)).toMatchObject({ ...pending, gas_used: null, events: [], from: known.from })
    await open.control.addFaults([{ kind: 'chain_down' }])
    expect((await open.acme.deposit('carol', jar, '1')).status).toBe(503)
    const page = await open.control.transactions()
    expect(page).toMatchObject({ transactions: [pending], next_before: null, unavailable: 'paused by a fault' })
    expect(await detail(tx_hash)).toMatchObject(pending)
    await expect(detail(body.tx_hash)).rejects.toMatchObject({ code: 'chain_unavailable' })
    await store.commit([{ collection: 'transfers', remove: 'txn_pending' }])
    await other.stop()
  })
})

describe('pages', () => {
  test('go down through blocks of many, empty ones and archived ones, without a gap and without one twice', async () => {
    const jars = await Promise.all(['carol', 'dave', 'erin'].map((user) => open.acme.open(user)))
    const hashes: string[] = []
    for (let i = 0; i < 4; i++) {
      const users = ['carol', 'dave', 'erin']
      const answers = await Promise.all(users.map((user, at) => open.acme.deposit(user, jars[at]!, `${i + 1}000000`)))
      hashes.push(...answers.map(({ body }) => body.tx_hash))
      for (let day = 0; day < 3; day++) clock().advance(DAY)
      if (i === 1) await rpc('anvil_mine', '0x12c') // 300 blocks: Anvil forgets those before
    }
    const seen: string[] = []
    let before: string | undefined
    for (let page = 0; page < 40; page++) {
      const { transactions, next_before } = await open.control.transactions({ limit: 2, before })
      expect(transactions.length).toBeLessThanOrEqual(2)
      seen.push(...transactions.map(({ tx_hash }) => tx_hash))
      if (next_before === null) break
      before = next_before
    }
    const all = (await rows({ limit: 100 })).map(({ tx_hash }) => tx_hash)
    expect(seen).toEqual(all)
    expect(new Set(seen).size).toBe(seen.length)
    expect(all).toHaveLength(13)
    expect(new Set(all.slice(0, 12))).toEqual(new Set(hashes))
    const oldest = await detail(all.at(-1)!)
    expect(oldest).toMatchObject({
      sentence: 'Supply 2,500.00 USDC to Aave for alice.',
      at: '2026-01-05T10:00:00.000Z',
    })
    expect(events(oldest)).toContain('2,500.00 USDC was supplied to Aave for alice.')
  })

  test.each([
    ['limit=0', 'limit'],
    ['before=x', 'before'],
    ['before=-1', 'before'],
    ['before=1.', 'before'],
    ['chain_id=1', 'chain_id'],
    ['page=2', 'page'],
  ])('a wrong query is refused by the name of its parameter: %s', async (query, param) => {
    const { name } = open.sandbox.namespace
    const response = await fetch(`${open.sandbox.baseUrl}/_sandbox/namespaces/${name}/transactions?${query}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'validation_error', param })
  })

  test('end at the first block, and below it', async () => {
    for (const before of ['0', '1', '0.5']) {
      expect(await open.control.transactions({ before })).toMatchObject({ transactions: [], next_before: null })
    }
    expect(await rows({ before: '999999999999' })).toHaveLength(1)
  })
})

test('an unknown hash is not found, an invalid one is refused, and one of another namespace is unknown', async () => {
  const other = await openNamespace({ seed: 9 })
  const jar = await other.acme.open('zoe')
  const { tx_hash } = (await other.acme.deposit('zoe', jar, '1000000')).body
  expect((await other.control.transaction(tx_hash)).sentence).toBe('Supply 1.00 USDC to Aave for zoe.')
  expect((await other.control.transaction(tx_hash.toUpperCase().replace('0X', '0x'))).tx_hash).toBe(tx_hash)
  for (const hash of [tx_hash, `0x${'5'.repeat(64)}`]) {
    await expect(detail(hash)).rejects.toMatchObject({ code: 'transaction_not_found' })
  }
  await expect(detail('0x5')).rejects.toMatchObject({ code: 'validation_error' })
  await other.stop()
})
