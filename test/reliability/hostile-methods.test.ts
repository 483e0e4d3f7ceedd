import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  acme,
  ask,
  EACH_KIND,
  ENDLESS,
  expectHealed,
  HUGE,
  healedByReset,
  jar,
  openHostile,
  prepare,
  REFUSED,
  SOMEBODY,
  sandbox,
  url,
} from './hostile-methods.ts'

openHostile()

describe('what is refused changes nothing, and needs no reset', () => {
  beforeAll(prepare)
  afterAll(expectHealed)

  test('none of it', async () => {
    for (const [method, params] of REFUSED) {
      const { status, body } = await ask(method, params())
      expect({ status, error: body.error }, method).toEqual({
        status: 200,
        error: expect.objectContaining({ code: -32601, message: expect.any(String) }),
      })
    }
    expect((await acme.deposit('alice', jar, '2000000')).status).toBe(200)
    const audit = await fetch(`${sandbox.baseUrl}/_sandbox/audit`)
    expect(((await audit.json()) as { ok: boolean }).ok).toBe(true)
  })
})

// The other methods: hostile-methods.long.test.ts.
healedByReset(EACH_KIND)

describe('a reset while something is under way', () => {
  beforeAll(prepare)
  afterEach(expectHealed)

  test.each([
    ['blocks are mined', 'anvil_mine', ['0x3e8', '0x1']],
    ['a call never ends', 'eth_call', [{ data: ENDLESS, gas: HUGE }, 'latest']],
    ['the node is snapshot', 'evm_snapshot', []],
    ['its state is dumped', 'anvil_dumpState', []],
  ])('%s', async (_, method, params) => {
    const asked = Array.from({ length: 4 }, () => ask(method, params).catch(() => undefined))
    const deposits = Array.from({ length: 4 }, () => acme.deposit('alice', jar, '1000').catch(() => undefined))
    await expectHealed()
    await Promise.all([...asked, ...deposits])
  })
})

describe('a reset forgets', () => {
  test('what was to be changed later in a batch', async () => {
    const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })
    const reads = Array.from({ length: 900 }, () => call('eth_getBalance', SOMEBODY, 'latest'))
    const body = JSON.stringify([...reads, call('anvil_setBalance', SOMEBODY, '0x5c')])
    const batch = fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await ask('eth_chainId', []) // the batch has begun by now
    await sandbox.reset()
    await (await batch).text()
    expect(await ask('eth_getBalance', [SOMEBODY, 'latest'])).toMatchObject({ body: { result: '0x0' } })
  })

  test('that somebody set the time of the next block', async () => {
    await ask('evm_increaseTime', [3_600])
    await sandbox.reset()
    await sandbox.clock.advance(172_800_000)
    await sandbox.clock.freeze()
    await ask('evm_mine', [])
    expect(Number((await sandbox.chain.getBlock()).timestamp)).toBe(Math.floor((await sandbox.clock.now()) / 1000))
  })
})
