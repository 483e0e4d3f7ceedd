import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rpc } from '../chain/chain-fixture.ts'
import { eventually } from '../helpers/eventually.ts'
import { goodHeaders, send } from '../http/raw-http.ts'
import { Ledger, type OpenNamespace, openNamespace } from './ledger.ts'

const DELAY = 60_000

let open: OpenNamespace
let ledger: Ledger
let user: string
let portfolio: string
let users = 0

type Operation = 'deposit' | 'withdraw'

/** The list a client polls after a broken connection (spec: endpoint 5, rule 2). */
async function transactions(): Promise<{ type: string; tx_hash: string }[]> {
  return (await open.acme.get(`end_users/${user}/transactions`)).body.data
}

async function ready(operation: Operation): Promise<void> {
  if (operation === 'withdraw') await open.acme.deposit(user, portfolio, '9000000')
}

/** The one transaction of the operation, once it is there; a retry with the key is answered with the same. */
async function expectOnce(operation: Operation, key: string): Promise<void> {
  const count = operation === 'withdraw' ? 2 : 1
  await eventually(async () => expect(await transactions()).toHaveLength(count))
  const [newest] = await transactions()
  const retry = await open.acme[operation](user, portfolio, '1000000', { key })
  expect(retry).toMatchObject({ status: 200, body: { tx_hash: newest!.tx_hash } })
  expect(retry.headers.get('idempotency-key-replay')).toBe('true')
  expect(await transactions()).toHaveLength(count)
  await ledger.expectSound()
}

describe.each(['deposit', 'withdraw'] as const)('a %s whose connection drops', (operation) => {
  // The ledger is compared with the chain for every user that there is, after each of these.
  beforeEach(async () => {
    open = await openNamespace()
    ledger = new Ledger(open)
    user = `user-${users++}`
    portfolio = await open.acme.open(user)
  })
  afterEach(() => open.stop())

  test.each(['before_broadcast', 'after_broadcast', 'after_confirmation', 'during_response'] as const)(
    '%s is processed all the same, and a retry with its key gets its response',
    async (phase) => {
      await ready(operation)
      for (const how of ['reset', 'close'] as const) {
        const key = randomUUID()
        open.sandbox.namespace.services.faults.add(
          [{ kind: 'drop_connection', phase, match: { operation }, with: { how } }],
          ['acme'],
        )
        await expect(open.acme[operation](user, portfolio, '1000000', { key })).rejects.toMatchObject({
          code: 'ECONNRESET',
        })
        await expectOnce(operation, key)
        ;[user, portfolio] = [`user-${users++}`, '']
        portfolio = await open.acme.open(user)
        await ready(operation)
      }
      expect(open.sandbox.namespace.services.faults.list().map(({ hits }) => hits)).toEqual([1, 1])
    },
  )

  test('in the middle of the response leaves the client with half a body and the server with a whole one', async () => {
    await ready(operation)
    const key = randomUUID()
    const fault = { kind: 'drop_connection', match: { operation }, with: { how: 'truncate', bytes: 20 } }
    open.sandbox.namespace.services.faults.add([fault], ['acme'])
    await expect(open.acme[operation](user, portfolio, '1000000', { key })).rejects.toThrow()
    await expectOnce(operation, key)
  })

  test('on_request has not happened, and happens when repeated', async () => {
    await ready(operation)
    const before = (await transactions()).length
    const key = randomUUID()
    open.sandbox.namespace.services.faults.add(
      [{ kind: 'drop_connection', phase: 'on_request', match: { operation } }],
      ['acme'],
    )
    await expect(open.acme[operation](user, portfolio, '1000000', { key })).rejects.toMatchObject({
      code: 'ECONNRESET',
    })
    expect(await transactions()).toHaveLength(before)
    const retry = await open.acme[operation](user, portfolio, '1000000', { key })
    expect(retry.status).toBe(200)
    expect(retry.headers.get('idempotency-key-replay')).toBe('false')
    await ledger.expectSound()
  })
})

describe('a client that goes away by itself', () => {
  let slow: OpenNamespace
  let slowLedger: Ledger
  let jar: string
  beforeAll(async () => {
    slow = await openNamespace({ confirmation_delay: DELAY })
    slowLedger = new Ledger(slow)
    slow.sandbox.namespace.services.service.clock.freeze()
    jar = await slow.acme.open('carol')
  })
  afterAll(() => slow.stop())

  const list = async () => (await slow.acme.get('end_users/carol/transactions')).body.data

  /** Transfers that stand in a block, and not yet in the ledger. */
  async function minedTransfers(): Promise<number> {
    const { chains, service } = slow.sandbox.namespace.services
    const { items } = await service.store.page('transfers', { scope: 'all', limit: 10 })
    const receipts = items.map(({ tx_hash }) => rpc(chains.started!.all()[0]!, 'eth_getTransactionReceipt', tx_hash))
    return (await Promise.all(receipts)).filter((receipt) => receipt !== null).length
  }

  /** A deposit given up by its client once it is signed and waits for its confirmation. */
  async function abandoned(key: string, portfolio = jar): Promise<void> {
    const controller = new AbortController()
    const headers = { ...(await goodHeaders(slow.acme, 'carol')), 'idempotency-key': key }
    const body = JSON.stringify({ portfolio_id: portfolio, amount_minor: '1000' })
    const url = `${slow.sandbox.baseUrl}/v1/partner/end_users/carol/deposit`
    const asked = fetch(url, { method: 'POST', headers, body, signal: controller.signal })
    const given = expect(asked).rejects.toThrow('abort')
    await eventually(async () => expect(await minedTransfers()).toBe(1))
    // What follows a block has its turn: then it waits for its confirmation.
    for (let i = 0; i < 3; i++) await list()
    controller.abort()
    await given
  }

  test('in mid-deposit finds the transaction in the list once it is confirmed, not before', async () => {
    const key = randomUUID()
    await abandoned(key)
    expect(await list()).toEqual([])
    // A retry joins what still runs.
    const retry = slow.acme.deposit('carol', jar, '1000', { key })
    slow.sandbox.namespace.services.service.clock.advance(DELAY - 1)
    expect(await list()).toEqual([])
    slow.sandbox.namespace.services.service.clock.advance(1)
    const { status, body, headers } = await retry
    expect({ status, replay: headers.get('idempotency-key-replay') }).toEqual({ status: 200, replay: 'true' })
    expect(await list()).toMatchObject([{ tx_hash: body.tx_hash }])
    await slowLedger.expectSound()
  })

  test('and comes back late gets the kept response', async () => {
    const key = randomUUID()
    const earlier = await list()
    await abandoned(key)
    slow.sandbox.namespace.services.service.clock.advance(DELAY)
    await eventually(async () => expect(await list()).toHaveLength(earlier.length + 1))
    const [newest] = await list()
    const retry = await slow.acme.deposit('carol', jar, '1000', { key })
    expect(retry).toMatchObject({ status: 200, body: { tx_hash: newest.tx_hash } })
    expect(retry.headers.get('idempotency-key-replay')).toBe('true')
    await slowLedger.expectSound()
  })

  test('before its body is out has asked for nothing', async () => {
    const earlier = await list()
    const headers = { ...(await goodHeaders(slow.acme, 'carol')), 'content-length': '1000' }
    const path = '/v1/partner/end_users/carol/deposit'
    const body = JSON.stringify({ portfolio_id: jar, amount_minor: '1000' })
    const { request } = await import('node:http')
    const { hostname, port } = new URL(slow.sandbox.baseUrl)
    await new Promise<void>((resolve) => {
      const outgoing = request({ hostname, port, path, method: 'POST', headers, agent: false })
      outgoing.on('error', () => undefined)
      outgoing.on('close', resolve)
      outgoing.write(body, () => outgoing.destroy())
    })
    expect((await send(slow.sandbox.baseUrl, { path: '/_sandbox/health' })).status).toBe(200)
    expect(await slowLedger.unsettled()).toBe(0)
    expect(await list()).toEqual(earlier)
  })
})
