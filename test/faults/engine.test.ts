import { describe, expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { Problem } from '../../src/domain/errors.ts'
import type { Exchange } from '../../src/domain/exchange.ts'
import type { Chains } from '../../src/domain/ports/chain.ts'
import type { Pool } from '../../src/domain/records.ts'
import { FaultEngine } from '../../src/faults/fault-engine.ts'
import type { FaultRule } from '../../src/faults/fault-rule.ts'
import { KINDS } from '../../src/faults/kinds/index.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { anExchange } from './an-exchange.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const noChains: Chains = {
  get: () => undefined,
  all: () => [],
  walletAddress: () => '0x',
}

function engine(seed = 7): FaultEngine {
  return new FaultEngine({
    clock: new SandboxClock(),
    random: new SeededRandom(seed),
    chains: noChains,
    pools: [],
    forks: [],
    log: silent,
  })
}

/** Sends so many exchanges by the rules; a letter each: what was struck is `x`. */
async function pattern(faults: FaultEngine, count: number, given?: Partial<Exchange>): Promise<string> {
  let struck = ''
  for (let i = 0; i < count; i++) {
    const passes = faults.at('on_request', anExchange(given)).then(
      () => '.',
      () => 'x',
    )
    struck += await passes
  }
  return struck
}

const patternOf = (rule: Partial<FaultRule>, count = 6, given?: Partial<Exchange>) => {
  const faults = engine()
  faults.add([{ kind: 'error', ...rule }], ['acme', 'globex'])
  return pattern(faults, count, given)
}

describe('in a row', () => {
  const key = 'e3a1c1ce-0000-4000-8000-000000000001'
  const attempt = { operation: 'deposit', external_id: 'alice', idempotency_key: key } as const

  test('an operation is spared after so many strikes in a row, and may be struck again when an attempt was answered', async () => {
    const faults = engine()
    faults.add([{ kind: 'error', times: 'always', in_a_row: 3 }], [])
    expect(await attempts(faults, 8, attempt)).toBe('xxx.xxx.')
  })

  test('the strikes of all rules count, whatever their phase', async () => {
    const faults = engine()
    faults.add(
      [
        { kind: 'error', times: 2 },
        { kind: 'error', phase: 'during_response', times: 'always', in_a_row: 3 },
      ],
      [],
    )
    expect(await attempts(faults, 5, attempt)).toBe('xxx.x')
  })

  test.each<[string, Partial<Exchange>]>([
    ['another key', { idempotency_key: 'e3a1c1ce-0000-4000-8000-000000000002' }],
    ['another end user', { external_id: 'bob' }],
    ['another tenant', { tenant: 'globex' }],
    ['another operation', { operation: 'withdraw' }],
  ])('%s is another operation', async (_, other) => {
    const faults = engine()
    faults.add([{ kind: 'error', times: 'always', in_a_row: 1 }], [])
    expect(await attempts(faults, 1, attempt)).toBe('x')
    expect(await attempts(faults, 1, { ...attempt, ...other })).toBe('x')
    expect(await attempts(faults, 1, attempt)).toBe('.')
  })

  test('a rule without it strikes on', async () => {
    const faults = engine()
    faults.add(
      [
        { kind: 'error', times: 1, in_a_row: 1 },
        { kind: 'error', times: 'always' },
      ],
      [],
    )
    expect(await attempts(faults, 5, attempt)).toBe('xxxxx')
  })

  /** Sends so many attempts through a request's first and last phase. */
  async function attempts(faults: FaultEngine, count: number, given: Partial<Exchange>): Promise<string> {
    let struck = ''
    for (let i = 0; i < count; i++) {
      const one = anExchange(given)
      for (const phase of ['on_request', 'during_response'] as const) {
        await faults.at(phase, one).catch(() => undefined)
      }
      struck += one.struckBy ? 'x' : '.'
    }
    return struck
  }
})

describe('how often', () => {
  test.each<[Partial<FaultRule>, string]>([
    [{}, 'x.....'],
    [{ times: 3 }, 'xxx...'],
    [{ times: 'always' }, 'xxxxxx'],
    [{ skip: 2 }, '..x...'],
    [{ skip: 1, times: 2 }, '.xx...'],
    [{ probability: 0, times: 'always' }, '......'],
  ])('%j strikes %s', async (rule, expected) => {
    expect(await patternOf(rule)).toBe(expected)
  })

  test('requests that do not match count neither as skipped nor as struck', async () => {
    const faults = engine()
    faults.add([{ kind: 'error', match: { operation: 'deposit' }, skip: 1 }], [])
    expect(await pattern(faults, 3)).toBe('...')
    expect(await pattern(faults, 3, { operation: 'deposit' })).toBe('.x.')
    expect(faults.list()).toMatchObject([{ hits: 1 }])
  })

  test('probability: the same seed, the same hits; another seed, others', async () => {
    const run = async (seed: number) => {
      const faults = engine(seed)
      faults.add([{ kind: 'error', times: 'always', probability: 0.5 }], [])
      return pattern(faults, 64)
    }
    const first = await run(7)
    expect(await run(7)).toBe(first)
    expect(await run(8)).not.toBe(first)
    const struck = [...first].filter((one) => one === 'x').length
    expect(struck).toBeGreaterThan(16)
    expect(struck).toBeLessThan(48)
  })

  test('probability: each rule draws from a stream of its own', async () => {
    const rule: FaultRule = { kind: 'error', times: 'always', probability: 0.5 }
    const alone = engine()
    alone.add([rule], [])
    const beside = engine()
    beside.add([rule, { ...rule, kind: 'unknown_fields' }], [])
    for (let i = 0; i < 9; i++) await beside.at('during_response', anExchange())
    expect(await pattern(beside, 20)).toBe(await pattern(alone, 20))
  })
})

describe('where', () => {
  const alice = { operation: 'deposit', external_id: 'alice' } as const
  test.each<[FaultRule['match'], Partial<Exchange>, boolean]>([
    [{ operation: 'deposit' }, alice, true],
    [{ operation: 'withdraw' }, alice, false],
    [{ tenant: 'acme' }, alice, true],
    [{ tenant: 'globex' }, alice, false],
    [{ tenant: 'acme' }, { ...alice, tenant: undefined }, false],
    [{ external_id: 'alice' }, alice, true],
    [{ external_id: 'bob' }, alice, false],
    [{ operation: 'deposit', tenant: 'acme', external_id: 'alice' }, alice, true],
    [{ operation: 'deposit', tenant: 'acme', external_id: 'bob' }, alice, false],
  ])('match %j, exchange %j: %s', async (match, given, strikes) => {
    expect(await patternOf({ match: match! }, 1, given)).toBe(strikes ? 'x' : '.')
  })

  test('only at its phase', async () => {
    const faults = engine()
    faults.add([{ kind: 'error', phase: 'before_broadcast' }], [])
    await faults.at('on_request', anExchange({ operation: 'deposit' }))
    await expect(faults.at('before_broadcast', anExchange({ operation: 'deposit' }))).rejects.toThrow(Problem)
  })

  test('a token fault leaves the token operation alone unless it is named', async () => {
    const token = { operation: 'token' } as const
    expect(await patternOf({ kind: 'bad_signature', with: { token: 'idp' } }, 1, token)).toBe('.')
    const faults = engine()
    faults.add([{ kind: 'bad_signature', with: { token: 'idp' }, match: { operation: 'token' } }], [])
    const struck = anExchange(token)
    await faults.at('on_request', struck)
    expect(struck.tokenWish).toMatchObject({ key: 'unknown' })
  })

  test('rules strike in the order they were added', async () => {
    const faults = engine()
    faults.add([{ kind: 'error', with: { code: 'not_found' } }, { kind: 'unknown_partner' }], [])
    await expect(faults.at('on_request', anExchange())).rejects.toMatchObject({ code: 'not_found' })
    await expect(faults.at('on_request', anExchange())).rejects.toMatchObject({ code: 'unknown_partner' })
  })
})

describe('rules in force', () => {
  test('are listed as they were written, with id, phase, hits and explanation', async () => {
    const faults = engine()
    const rule = { kind: 'error', times: 2, with: { status: 503, retry_after: 4 } }
    const [added] = faults.add([rule], [])
    expect(added).toEqual({
      ...rule,
      id: 'fault-1',
      phase: 'on_request',
      hits: 0,
      explanation: 'The answer is an error when the request comes: 503 service_unavailable, Retry-After 4.',
    })
    await pattern(faults, 1)
    expect(faults.list()).toEqual([{ ...added, hits: 1 }])
  })

  test('are added all or none', () => {
    const faults = engine()
    expect(() => faults.add([{ kind: 'error' }, { kind: 'eror' }, { kind: 'error', skip: -1 }], [])).toThrow(
      expect.objectContaining({
        code: 'validation_error',
        details: expect.objectContaining({
          param: '[1].kind',
          errors: [expect.objectContaining({ param: '[1].kind' }), expect.objectContaining({ param: '[2].skip' })],
        }),
      }),
    )
    expect(faults.list()).toEqual([])
  })

  test('can be taken away one by one', async () => {
    const faults = engine()
    const [first] = faults.add([{ kind: 'error', with: { code: 'not_found' } }, { kind: 'unknown_partner' }], [])
    expect(faults.remove(first!.id)).toBe(true)
    expect(faults.remove(first!.id)).toBe(false)
    await expect(faults.at('on_request', anExchange())).rejects.toMatchObject({ code: 'unknown_partner' })
  })
})

describe('every kind', () => {
  const needed: Record<string, unknown> = { latency: { delay: '1s' }, apy_change: { apy: 0.1, pool: 'aave-usdc' } }

  test.each(KINDS.flatMap(({ kind, phases }) => phases.map((phase) => [kind, phase] as const)))(
    '%s can strike at %s and explains itself in a sentence',
    (kind, phase) => {
      const faults = new FaultEngine({
        clock: new SandboxClock(),
        random: new SeededRandom(7),
        chains: noChains,
        pools: [{ pool_id: 'aave-usdc' } as never],
        forks: [],
        log: silent,
      })
      const parameters = needed[kind] ?? (/^(pool_paused|illiquid_pool)$/.test(kind) ? { pool: 'aave-usdc' } : {})
      const [added] = faults.add([{ kind, phase, with: parameters }], [])
      expect(added).toMatchObject({ kind, phase, hits: 0, explanation: expect.stringMatching(/^[A-Z].+\.$/) })
      expect(added!.explanation).not.toContain('undefined')
    },
  )

  test.each(['pool_paused', 'illiquid_pool', 'apy_change'])(
    '%s is for markets of the sandbox, not for those of a fork',
    (kind) => {
      const pools = [{ pool_id: 'own', chain_id: '31337' } as Pool, { pool_id: 'real', chain_id: '8453' } as Pool]
      const engineWith = (given: readonly Pool[]) =>
        new FaultEngine({
          ...{ clock: new SandboxClock(), random: new SeededRandom(7), chains: noChains, log: silent },
          ...{ pools: given, forks: ['8453'] },
        })
      const add = (faults: FaultEngine, pool?: string) =>
        faults.add(
          [
            {
              kind,
              phase: 'before_broadcast',
              with: { ...(kind === 'apy_change' && { apy: 0.1 }), ...(pool && { pool }) },
            },
          ],
          [],
        )
      expect(add(engineWith(pools), 'own')).toHaveLength(1)
      expect(add(engineWith(pools))).toHaveLength(1)
      expect(() => add(engineWith(pools), 'real')).toThrow('"real" is on a fork of a real chain')
      expect(() => add(engineWith(pools.slice(1)))).toThrow('every pool is on a fork of a real chain')
    },
  )

  test('has a name of its own and parameters that are described and closed', () => {
    expect(new Set(KINDS.map(({ kind }) => kind)).size).toBe(KINDS.length)
    for (const { kind, with: schema } of KINDS) {
      expect(schema, kind).toMatchObject({ type: 'object', additionalProperties: false })
      for (const [name, parameter] of Object.entries<{ description?: string }>(schema.properties)) {
        expect(parameter.description, `${kind} ${name}`).toMatch(/\w/)
      }
    }
  })
})
