import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { Idempotency } from '../../src/domain/idempotency.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import { createStore } from '../../src/store/ledger-store.ts'

const TTL = 1000
let clock: SandboxClock
let store: Store
let idempotency: Idempotency
beforeEach(async () => {
  clock = new SandboxClock(0)
  store = await createStore()
  const settings = { ...DEFAULT_SETTINGS, idempotency_ttl: TTL }
  idempotency = new Idempotency({ store, clock, settings, render: () => ({ status: 422, body: null }) })
})

/** Carries an operation out under a key; says whether it ran, or was answered from what was kept. */
async function ask(key: string): Promise<'ran' | 'kept'> {
  const { replayed } = await idempotency.run({
    scope: { tenant_id: 'acme', operation: 'deposit', external_id: 'alice', key },
    body: {},
    origin: { request_id: 'req_1', instance: '/' },
    async operation(claim) {
      const response = { status: 200, body: key }
      await store.commit(await idempotency.keep(claim, response))
      return response
    },
  })
  return replayed ? 'kept' : 'ran'
}

const keys = (length: number) => Array.from({ length }, () => randomUUID())
const count = () => store.count('idempotency_keys', 'all')

describe('kept outcomes past their time', () => {
  test('go as others come, and none before its time', async () => {
    const [old, young] = [keys(40), keys(20)]
    for (const key of old) await ask(key)
    clock.advance(TTL)
    // The last millisecond counts.
    for (const key of young) expect(await ask(key)).toBe('ran')
    for (const key of old) expect(await ask(key)).toBe('kept')
    clock.advance(1)
    for (const key of keys(15)) await ask(key)
    expect(await count()).toBe(20 + 15)
    for (const key of young) expect(await ask(key)).toBe('kept')
    expect(await ask(old[0]!)).toBe('ran')
    expect(await ask(old[0]!)).toBe('kept')
  })

  test('do not pile up', async () => {
    let most = 0
    for (let i = 0; i < 2000; i++) {
      clock.advance(TTL / 10)
      await ask(randomUUID())
      most = Math.max(most, await count())
    }
    expect(most).toBe(11)
  })

  test('do not take along one that is used anew at the same moment', async () => {
    const old = keys(8)
    for (const key of old) await ask(key)
    clock.advance(TTL + 1)
    expect(await Promise.all([...old, ...keys(8)].map(ask))).toEqual(Array(16).fill('ran'))
    expect(await Promise.all(old.map(ask))).toEqual(Array(8).fill('kept'))
    expect(await count()).toBe(16)
  })
})
