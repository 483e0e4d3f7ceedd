import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { type ErrorCode, Problem } from '../../src/domain/errors.ts'
import { Idempotency, type IdempotentRequest } from '../../src/domain/idempotency.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import type { Claim } from '../../src/domain/records.ts'
import { DEFAULT_SETTINGS, type ServiceSettings } from '../../src/domain/service-settings.ts'
import { createStore } from '../../src/store/ledger-store.ts'

const TTL = 1000
let clock: SandboxClock
let store: Store
let idempotency: Idempotency
beforeEach(async () => {
  clock = new SandboxClock(0)
  store = await createStore()
  idempotency = service()
})

function service(changes: Partial<ServiceSettings> = {}): Idempotency {
  const settings = { ...DEFAULT_SETTINGS, idempotency_ttl: TTL, ...changes }
  const render = ({ code, status }: Problem, { request_id }: Claim) => ({ status, body: { code, request_id } })
  return new Idempotency({ store, clock, settings, render })
}

/** A request whose operation answers with the key, and keeps that. */
function request(key: string, body: unknown = {}): IdempotentRequest {
  return {
    scope: { tenant_id: 'acme', operation: 'deposit', external_id: 'alice', key },
    body,
    origin: { request_id: 'req_1', instance: '/' },
    async operation(claim) {
      const response = { status: 200, body: key }
      await store.commit(await idempotency.keep(claim, response))
      return response
    },
  }
}

/** Carries an operation out under a key; says whether it ran, or was answered from what was kept. */
async function ask(key: string, body: unknown = {}): Promise<'ran' | 'kept'> {
  const { response, replayed } = await idempotency.run(request(key, body))
  if (!replayed) expect(response).toEqual({ status: 200, body: key })
  return replayed ? 'kept' : 'ran'
}

const MISMATCH = expect.objectContaining({ code: 'idempotency_key_in_use_with_different_params' })

const keys = (length: number) => Array.from({ length }, () => randomUUID())
const count = () => store.count('idempotency_keys', 'all')

describe('a repetition', () => {
  const DEPOSIT = { amount: '1', token: { symbol: 'USDC', decimals: 6 }, tags: ['a', 'b', null] }

  test('is answered as the request was, whether that still runs or not', async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, () => idempotency.run(request('k'))))
    answers.push(await idempotency.run(request('k')))
    expect(answers.map(({ replayed }) => replayed)).toEqual([false, true, true, true])
    for (const { response } of answers) expect(response).toEqual({ status: 200, body: 'k' })
  })

  test.each<[string, unknown]>([
    ['members in another order', { tags: DEPOSIT.tags, token: { decimals: 6, symbol: 'USDC' }, amount: '1' }],
    ['a member that is not there', { ...DEPOSIT, memo: undefined }],
  ])('has the same body with %s', async (_what, body) => {
    await ask('k', DEPOSIT)
    expect(await ask('k', body)).toBe('kept')
  })

  test.each<[string, unknown]>([
    ['another amount', { ...DEPOSIT, amount: '2' }],
    ['a number for a text', { ...DEPOSIT, amount: 1 }],
    ['another value inside', { ...DEPOSIT, token: { symbol: 'USDC', decimals: 18 } }],
    ['a list in another order', { ...DEPOSIT, tags: ['b', 'a', null] }],
    ['a shorter list', { ...DEPOSIT, tags: ['a', 'b'] }],
    ['a member more', { ...DEPOSIT, memo: null }],
    ['none', undefined],
    ['null', null],
  ])('is none with another body: %s', async (_what, body) => {
    const first = ask('k', DEPOSIT)
    await expect(ask('k', body)).rejects.toEqual(MISMATCH)
    await first
    await expect(ask('k', body)).rejects.toEqual(MISMATCH)
    expect(await ask('k', DEPOSIT)).toBe('kept')
  })

  test('is one of the same tenant, operation and external_id', async () => {
    const { scope, ...rest } = request('k')
    await idempotency.run({ scope, ...rest })
    for (const other of [{ tenant_id: 'globex' }, { operation: 'withdraw' as const }, { external_id: 'bob' }]) {
      const { replayed } = await idempotency.run({ scope: { ...scope, ...other }, ...rest })
      expect([other, replayed]).toEqual([other, false])
    }
  })

  test('of a UUID may write it in the other case, of an opaque key it may not', async () => {
    const [lower, upper] = ['7c9e6679-7425-4a0d-8f3e-aa5b1c2d3e4f', '7C9E6679-7425-4A0D-8F3E-AA5B1C2D3E4F']
    idempotency = service({ idempotency_key_format: 'uuid_v4' })
    expect([await ask(lower), await ask(upper)]).toEqual(['ran', 'kept'])
    idempotency = service({ idempotency_key_format: 'opaque' })
    expect([await ask('Key'), await ask('key'), await ask('Key')]).toEqual(['ran', 'ran', 'kept'])
  })

  test('is refused while the request runs, when that is set', async () => {
    idempotency = service({ idempotency_in_flight: 'conflict' })
    const first = ask('k')
    await expect(ask('k')).rejects.toMatchObject({
      code: 'idempotency_key_in_progress',
      details: { headers: { 'retry-after': '1' }, param: 'Idempotency-Key' },
    })
    await expect(ask('k', { other: 1 })).rejects.toEqual(MISMATCH)
    expect([await first, await ask('k')]).toEqual(['ran', 'kept'])
  })
})

describe('an operation that fails', () => {
  /** Fails with the error, then is repeated with an operation that would succeed. */
  async function failThenRepeat(error: Error) {
    const failing = { ...request('k'), operation: () => Promise.reject(error) }
    const first = await idempotency.run(failing).catch((thrown: unknown) => thrown)
    return {
      first,
      repeated: await idempotency.run({ ...request('k'), origin: { request_id: 'req_2', instance: '/' } }),
    }
  }

  test.each<ErrorCode>(['insufficient_balance', 'portfolio_not_found', 'idempotency_key_in_progress'])(
    'with %s is answered so again, as the first request',
    async (code) => {
      const problem = new Problem(code, { detail: 'x' })
      const response = { status: problem.status, body: { code, request_id: 'req_1' } }
      const { first, repeated } = await failThenRepeat(problem)
      expect(first).toEqual({ response, replayed: false })
      expect(repeated).toEqual({ response, replayed: true })
    },
  )

  test.each([
    ...(
      [
        'validation_error',
        'invalid_user_token',
        'insufficient_role',
        'rate_limited',
        'internal_error',
        'chain_unavailable',
      ] as const
    ).map((code) => new Problem(code, { detail: 'x' })),
    new TypeError('a fault of the program'),
  ])('may be tried again after %s', async (error) => {
    const { first, repeated } = await failThenRepeat(error)
    expect(first).toBe(error)
    expect(repeated).toEqual({ response: { status: 200, body: 'k' }, replayed: false })
  })

  test('may be kept as an error beside its own writes', async () => {
    const problem = new Problem('transaction_reverted', { detail: 'x' })
    const response = { status: 422, body: { code: 'transaction_reverted', request_id: 'req_1' } }
    await idempotency.run({
      ...request('k'),
      async operation(claim) {
        await store.commit(await idempotency.keep(claim, problem))
        return response
      },
    })
    expect(await idempotency.run(request('k'))).toEqual({ response, replayed: true })
  })
})

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
