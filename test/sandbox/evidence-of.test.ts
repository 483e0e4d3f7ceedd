import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { FaultRule } from '../../src/faults/fault-rule.ts'
import { evidenceOf } from '../../src/sandbox/evidence-of.ts'
import type { Namespace } from '../../src/sandbox/namespace.ts'
import { type OpenSandbox, openSandbox } from '../reliability/ledger.ts'

const RULE: FaultRule = { kind: 'error', match: { operation: 'list_pools' } }

let open: OpenSandbox
let inside: ControlClient
let outside: ControlClient
let namespace: Namespace
beforeAll(async () => {
  open = await openSandbox({ recordExchanges: 5 })
  const { sandbox } = open
  inside = new ControlClient(sandbox.baseUrl, { fetch: sandbox.fetch })
  outside = new ControlClient(sandbox.baseUrl)
})
afterAll(() => open.stop())
beforeEach(async () => {
  const { namespace: name } = await inside.createNamespace({})
  namespace = await open.sandbox.namespaces.get(name)
})

const evidence = () => evidenceOf(namespace, { ended: true, end: 'well' })
const taken = async () => (await evidence()).taken_away

describe('what a command takes away itself', () => {
  const own = () => outside.in(namespace.name)
  const add = (...rules: FaultRule[]) => inside.in(namespace.name).addFaults(rules)

  test('nothing at first', async () => {
    expect(await taken()).toEqual({ clearings: 0, resets: 0, faults: 0 })
  })

  test('faults cleared, whether any was in force or not', async () => {
    await own().clearFaults()
    expect(await taken()).toEqual({ clearings: 1, resets: 0, faults: 0 })
    await add(RULE, { ...RULE, times: 'always' })
    await own().clearFaults()
    expect(await taken()).toEqual({ clearings: 2, resets: 0, faults: 2 })
  })

  test('one fault of several', async () => {
    const [first] = await add(RULE, RULE)
    await own().removeFault(first!.id)
    expect(await taken()).toEqual({ clearings: 1, resets: 0, faults: 1 })
  })

  test('a fault that has struck as often as it can is not missed', async () => {
    await add(RULE, { ...RULE, times: 2 })
    for (const rule of namespace.services.faults.list()) expect(rule.hits).toBe(0)
    const { client_id, client_secret } = Object.values((await own().credentials()).tenants)[0]!
    const { auth_url, base_url, scope } = await own().credentials()
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
    const answer = await fetch(auth_url, { method: 'POST', body: form })
    const { access_token } = (await answer.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await fetch(`${base_url}/v1/partner/pools`, { headers })).status).toBe(500)
    await own().clearFaults()
    expect(await taken()).toEqual({ clearings: 1, resets: 0, faults: 1 })
  })

  test('a reset, with what was in force; no reset sets the counts back', async () => {
    await add(RULE)
    await own().reset()
    await own().reset()
    expect(await taken()).toEqual({ clearings: 0, resets: 2, faults: 1 })
  })

  test('a scenario stopped; when none runs, nothing', async () => {
    await inside.in(namespace.name).startScenario('dropped-deposit')
    await own().stopScenario()
    const { clearings, faults } = await taken()
    expect({ clearings, some: faults > 0 }).toEqual({ clearings: 1, some: true })
    await own().stopScenario()
    expect((await taken()).clearings).toBe(1)
  })

  test('what the process asks of its own sandbox does not count', async () => {
    const mine = inside.in(namespace.name)
    const [rule] = await add(RULE, RULE)
    await mine.removeFault(rule!.id)
    await mine.clearFaults()
    await mine.reset()
    expect(await taken()).toEqual({ clearings: 0, resets: 0, faults: 0 })
  })

  test('namespaces that it makes', async () => {
    const { namespaces } = open.sandbox
    const before = namespaces.madeByOthers
    await inside.createNamespace({})
    expect(namespaces.madeByOthers).toBe(before)
    await outside.createNamespace({})
    await expect(outside.createNamespace({ name: 'default' })).rejects.toThrow()
    expect(namespaces.madeByOthers).toBe(before + 1)
  })
})

describe('JSON-RPC', () => {
  const ask = (fetcher: typeof fetch, name = namespace.name) =>
    fetcher(`${open.sandbox.baseUrl}/rpc/${name}/31337`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}',
    })

  test('when a client last asked a chain of the namespace, until a reset', async () => {
    expect((await evidence()).rpc_at).toBeNull()
    await ask(open.sandbox.fetch)
    await ask(fetch, 'default')
    expect((await evidence()).rpc_at).toBeNull()
    const before = Date.now()
    expect((await ask(fetch)).status).toBe(200)
    const { rpc_at, now } = await evidence()
    expect(rpc_at).toBeGreaterThanOrEqual(before)
    expect(rpc_at).toBeLessThanOrEqual(now)
    await inside.in(namespace.name).reset()
    expect((await evidence()).rpc_at).toBeNull()
  })
})

test('a deposit outlives the record, and what was forgotten is counted', async () => {
  const { acme, sandbox } = open
  const portfolio = await acme.open('dan')
  const { body } = await acme.deposit('dan', portfolio, '1000')
  for (let i = 0; i < 7; i++) await acme.get('pools')
  const { kept, exchanges, forgotten } = await evidenceOf(sandbox.namespace, { ended: true, end: 'well' })
  expect(kept.map(({ operation }) => operation)).toEqual(['create_portfolio', 'deposit'])
  expect(kept[1]).toMatchObject({
    tenant: 'acme',
    external_id: 'dan',
    transfer: {
      transaction_id: body.transaction_id,
      tx_hash: body.tx_hash,
      amount_minor: '1000',
      portfolio_id: portfolio,
    },
  })
  expect(exchanges.map(({ operation }) => operation)).toEqual(Array.from({ length: 5 }, () => 'list_pools'))
  expect(kept.every(({ number }) => number < exchanges[0]!.number)).toBe(true)
  expect(forgotten.room).toBeGreaterThan(2)
})
