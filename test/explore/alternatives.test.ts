import { describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS, PROFILES, type ServiceSettings } from '../../src/domain/service-settings.ts'
import { alternativesTo, findAlternative, partsMet } from '../../src/explore/assumptions/alternatives.ts'
import { SWITCHABLE_SETTINGS } from '../../src/explore/assumptions/switchable-settings.ts'
import { judgeAlternative } from '../../src/explore/assumptions/try-alternatives.ts'
import { compareBaselines } from '../../src/explore/run/baseline.ts'
import { IDEMPOTENCY_ASSUMPTIONS, IDEMPOTENCY_BEHAVIOURS } from '../../src/fidelity/assumed-idempotency.ts'
import { MONEY_ASSUMPTIONS, MONEY_BEHAVIOURS } from '../../src/fidelity/assumed-money.ts'
import { REQUEST_ASSUMPTIONS, REQUEST_BEHAVIOURS } from '../../src/fidelity/assumed-requests.ts'
import { service } from '../../src/fixtures/settings-schema.ts'
import { OptionError } from '../../src/option-error.ts'
import { parseDuration } from '../../src/support/quantities.ts'
import { schemaIssues } from '../../src/support/schema-issues.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'
import { seen } from './observation.ts'

const entries = Object.entries(SWITCHABLE_SETTINGS)
const switchable = entries.flatMap(([name, one]) => ('values' in one ? [{ name, ...one }] : []))
const live: ServiceSettings = PROFILES['live-like']
const idsOf = (settings: ServiceSettings) => alternativesTo(settings).map(({ id }) => id)

describe('the table of settings', () => {
  test('has every setting of a fixture file: other values, or the reason why there are none', () => {
    const known = Object.keys(service.properties).filter((name) => name !== 'profile')
    expect(Object.keys(SWITCHABLE_SETTINGS).sort()).toEqual(known.sort())
    expect(Object.keys(SWITCHABLE_SETTINGS).sort()).toEqual(Object.keys(DEFAULT_SETTINGS).sort())
    for (const [name, one] of entries) {
      const words = 'values' in one ? [one.unmet, ...Object.values(one.values)] : [one.leftOut]
      for (const said of words) expect(said.length, name).toBeGreaterThan(20)
      if ('values' in one) expect(Object.keys(one.values).length, name).toBeGreaterThan(1)
    }
  })

  test('has every setting that an assumption names', () => {
    const rows = [...IDEMPOTENCY_ASSUMPTIONS, ...IDEMPOTENCY_BEHAVIOURS, ...MONEY_ASSUMPTIONS, ...MONEY_BEHAVIOURS]
    for (const { setting } of [...rows, ...REQUEST_ASSUMPTIONS, ...REQUEST_BEHAVIOURS]) {
      if (setting?.startsWith('service.')) expect(SWITCHABLE_SETTINGS).toHaveProperty(setting.replace('service.', ''))
    }
  })

  test.each(switchable)('has all that $name can be, and both that the profiles have', ({ name, values }) => {
    const { anyOf } = service.properties[name as keyof ServiceSettings] as { anyOf?: { const?: unknown }[] }
    if (anyOf?.every((one) => 'const' in one))
      expect(Object.keys(values).sort()).toEqual(anyOf.map((one) => String(one.const)).sort())
    const own = (settings: ServiceSettings) => String(settings[name as keyof ServiceSettings])
    const known = Object.keys(values).map((value) =>
      name === 'idempotency_ttl' ? String(parseDuration(value)) : value,
    )
    expect(known).toEqual(expect.arrayContaining([own(DEFAULT_SETTINGS), own(live)]))
  })

  test.each([DEFAULT_SETTINGS, live])('gives alternatives that a fixture file can have (%#)', (settings) => {
    for (const alternative of alternativesTo(settings)) expect(schemaIssues(service, alternative.service)).toEqual([])
  })
})

describe('the alternatives to settings', () => {
  test('are all other values, one at a time, and the profiles that differ', () => {
    const ids = idsOf(DEFAULT_SETTINGS)
    expect(ids).toHaveLength(switchable.length + 1)
    expect(ids).toEqual(expect.arrayContaining(['assumption transfer_status=201', 'assumption profile=live-like']))
    expect(idsOf(live)).toEqual(expect.arrayContaining(['assumption base_path=""', 'assumption profile=specification']))
    expect(idsOf(live)).not.toContain('assumption profile=live-like')
  })

  test('of a value that nobody lists are all listed ones', () => {
    const ids = idsOf({ ...DEFAULT_SETTINGS, transfer_status: 201, idempotency_ttl: 60_000, idp_token_lifetime: 7200 })
    const own = ['transfer_status=200', 'idempotency_ttl=1h', 'idempotency_ttl=24h', 'idp_token_lifetime=300']
    expect(ids).toEqual(expect.arrayContaining([...own, 'idp_token_lifetime=3600'].map((one) => `assumption ${one}`)))
    expect(ids).not.toContain('assumption transfer_status=201')
  })

  test('leave the fixture everything but what they replace', () => {
    const [status] = alternativesTo(DEFAULT_SETTINGS).filter(({ setting }) => setting === 'transfer_status')
    expect(status).toMatchObject({ service: { transfer_status: 201 }, parts: ['transfer_status'] })
    const whole = findAlternative('assumption profile=live-like', { ...DEFAULT_SETTINGS, base_path: '/api' })
    expect(whole.parts).not.toContain('base_path')
    expect({ ...DEFAULT_SETTINGS, base_path: '/api', ...whole.service }).toEqual({ ...live, base_path: '/api' })
  })

  test('are found by every name that is printed', () => {
    for (const settings of [DEFAULT_SETTINGS, live]) {
      for (const one of alternativesTo(settings)) expect(findAlternative(one.id, settings)).toEqual(one)
    }
  })

  test.each([
    ['transfer_statu=201', /"transfer_statu" is no setting that has another value; did you mean "transfer_status"\?/],
    ['transfer_status=202', /"202" is not tried for transfer_status; did you mean "201"\?/],
    ['transfer_status=200', /the fixture has that already; use 201$/],
    ['transfer_status', /"" is not tried for transfer_status; use 201/],
    ['audience=api://other', /no other audience is tried: the client is told it/],
    ['profile=specification', /the fixture has that already; use live-like$/],
    ['profile=live', /"live" is not tried for profile; .*live-like/],
    ['', /"" is no setting .* use one of error_body, /],
  ])('%s is refused in one sentence', (name, words) => {
    const find = () => findAlternative(`assumption ${name}`, DEFAULT_SETTINGS)
    expect(find).toThrow(OptionError)
    expect(find).toThrow(words)
  })
})

/** Claims of a user token, ahead of the request by so many seconds; the request comes at the moment that `exchange` gives it. */
function fastToken(ahead: number): ExchangeParts {
  const iat = Math.floor(Date.parse(exchange({}).began.wall) / 1000) + ahead
  return { request: { user_token: { fingerprint: 'u', header: {}, claims: { iat } } } }
}

const refused = (code: string, status = 422): ExchangeParts => ({ response: { status, code } })
const issued: ExchangeParts = {
  operation: 'token',
  response: { issued: { token: { fingerprint: 't', header: {}, claims: {} }, expires_in: 300 } },
}
const keyed = (use: 'first' | 'joined' | 'replayed'): ExchangeParts => ({
  operation: 'deposit',
  idempotency: { key: '9f0c2a5e-4ef2-4a52-9a6f-0b6a6f1f0a01', use },
})

describe('a run meets', () => {
  const plain: ExchangeParts = { operation: 'list_pools' }
  test.each<[string, ExchangeParts, boolean, ExchangeParts?]>([
    ['error_body=code_only', { operation: 'withdraw', ...refused('insufficient_balance') }, true],
    ['error_body=code_only', { operation: 'token', ...refused('invalid_client', 401) }, false],
    ['error_body=code_only', plain, false],
    ['error_docs=https://docs.example.com/errors', refused('pool_not_found'), true],
    ['error_amounts=whole_tokens', refused('pool_not_found'), false],
    ['error_amounts=whole_tokens', refused('insufficient_balance'), true],
    ['end_user_jwt=required', { operation: 'create_end_user', response: { status: 201 } }, true],
    ['end_user_jwt=required', { operation: 'create_end_user', ...refused('invalid_idp_token', 401) }, false],
    ['end_user_idempotency_key=required', plain, false],
    ['transfer_status=201', { operation: 'deposit', response: { status: 201 } }, true],
    ['transfer_status=201', { operation: 'deposit', ...refused('insufficient_balance') }, false],
    ['idempotency_key_format=opaque', keyed('first'), true],
    ['idempotency_key_format=opaque', plain, false],
    ['idempotency_in_flight=conflict', { operation: 'deposit', ...refused('idempotency_key_in_progress', 409) }, true],
    ['idempotency_in_flight=conflict', keyed('replayed'), false],
    ['idp_scopes=two', issued, true],
    ['idp_token_lifetime=300', issued, true],
    ['idp_token_lifetime=300', issued, false, issued],
    ['user_token_leeway=0', fastToken(0), false],
    ['user_token_leeway=0', fastToken(1), true],
    ['user_token_leeway=0', fastToken(60), true],
    ['user_token_leeway=0', fastToken(61), false],
    ['user_token_codes=several', refused('unknown_partner_issuer', 401), true],
    ['user_token_codes=several', refused('invalid_user_token', 401), false],
    [
      'yield_harvest=recorded',
      { operation: 'list_transactions', response: { body: '{"type":"yield_harvest"}' } },
      true,
    ],
    ['yield_harvest=recorded', { operation: 'list_transactions', response: { body: '{"data":[]}' } }, false],
  ])('%s: case %#', (name, parts, expected, before = {}) => {
    const alternative = findAlternative(`assumption ${name}`, DEFAULT_SETTINGS)
    const unharmed = { exchanges: [exchange({ ...plain, ...before })], settings: DEFAULT_SETTINGS }
    const settings: ServiceSettings = { ...DEFAULT_SETTINGS, ...alternative.service }
    const { met } = partsMet(alternative, { exchanges: [exchange(parts)], settings, unharmed })
    expect(met.length > 0).toBe(expected)
  })
})

describe('a run under another setting', () => {
  const unharmed = seen({ transfers: ['deposit 5'], struck: [] })
  const expected = compareBaselines(unharmed, unharmed)
  const status = findAlternative('assumption transfer_status=201', DEFAULT_SETTINGS)
  const inFlight = findAlternative('assumption idempotency_in_flight=conflict', DEFAULT_SETTINGS)
  const judged = (alternative: typeof status, ...run: Parameters<typeof seen>) =>
    judgeAlternative(alternative, { ...seen(...run), struck: [] }, { expected, unharmed })

  test('that ends as before survives only if it met the setting', () => {
    expect(judged(status, { transfers: ['deposit 5'] })).toMatchObject({ outcome: 'survived', level: 'ok' })
    const { outcome, sentences } = judged(inFlight, { transfers: ['deposit 5'] })
    expect([outcome, sentences.join()]).toEqual([
      'not_met',
      expect.stringMatching(/^no request came with the key of one/),
    ])
  })

  test('that fails breaks, and what did not meet the setting may have failed by chance', () => {
    const failed = judged(status, { transfers: ['deposit 5'], code: 2 })
    expect(failed).toEqual({
      outcome: 'breaks',
      level: 'review',
      sentences: [expect.stringMatching(/^your client ended with code 2/), 'the money is the same'],
    })
    const byChance = judged(inFlight, { transfers: ['deposit 5'], code: 2 })
    expect(byChance.sentences.at(-1)).toMatch(/may be chance$/)
  })

  test('that is not done in time hangs, and one that pays twice is worse than one that breaks', () => {
    const end = { code: null, signal: 'SIGKILL' as const, timedOut: true, leftBehind: [] }
    expect(judged(status, { transfers: ['deposit 5'], end })).toMatchObject({ outcome: 'hung', level: 'serious' })
    const twice = judged(status, { transfers: ['deposit 5', 'deposit 5'] })
    expect(twice).toMatchObject({ outcome: 'astray', level: 'critical' })
  })
})
