import { describe, expect, test } from 'vitest'
import { judgementInSteps } from '../../src/oracle/judge-operations.ts'
import { evidenceOf } from '../verdict/evidence.ts'
import { exchange } from '../verdict/exchange.ts'
import { booked, judged, LOST, list, made, outcomes, PORTFOLIO, sibling, transfer, UNAVAILABLE } from './story.ts'

const dropped = (key: string, at: number) => transfer({ key, at, ...LOST })
const error = (phase: string) => ({ id: 'fault-1', kind: 'error', phase, explanation: '' })
const byFault = (code: string) => ({
  refusal: { check: 'fault' as const, code, aspect: null, expected: null, came: null, detail: '' },
})

describe('carried out', () => {
  test('told: answered, at once or under the same key', () => {
    expect(outcomes([transfer({ key: 'a' })], [booked('a')])).toEqual(['told ok'])
    expect(outcomes([dropped('a', 0), transfer({ key: 'A', at: 50 })], [booked('a')])).toEqual(['told ok'])
  })

  test('untold: the command ended well, and no answer said so', () => {
    expect(outcomes([dropped('a', 0)], [booked('a')])).toEqual(['untold critical'])
    const [outcome] = judged([dropped('a', 0)], [booked('a')])
    expect(outcome?.sentence).toMatch(/^alice's deposit of 250.00 USDC was carried out, and your command ended well/)
  })

  test.each([
    ['abandoned', { end: 'abandoned' as const, response: null }],
    ['503', UNAVAILABLE],
    ['504', { response: { status: 504, code: null } }],
    ['408', { response: { status: 408, code: null } }],
    ['409 in progress', { response: { status: 409, code: 'idempotency_key_in_progress' } }],
    ['unread', { unread: true }],
    ['cut JSON', { faults: [{ id: 'f', kind: 'malformed_body', phase: 'during_response', explanation: '' }] }],
  ])('%s tells nothing', (_how, parts) => {
    expect(outcomes([transfer({ key: 'a', ...parts })], [booked('a')])).toEqual(['untold critical'])
  })

  test('left open: the command failed, or nobody knows how it ended', () => {
    expect(outcomes([dropped('a', 0)], [booked('a')], { end: 'failed' })).toEqual(['left_open review'])
    expect(outcomes([dropped('a', 0)], [booked('a')], { end: null })).toEqual(['left_open review'])
  })

  test('hung: said first, and the row without it second', () => {
    expect(outcomes([dropped('a', 0)], [booked('a')], { end: 'hung' })).toEqual(['hung serious', 'left_open review'])
  })

  test('a refusal before the key was looked at says nothing of the attempt before it', () => {
    const refused = { status: 401, code: 'invalid_idp_token' }
    const retry = transfer({ key: 'a', at: 50, idempotency: { key: 'a', use: 'unused' }, response: refused })
    expect(outcomes([dropped('a', 0), retry], [booked('a')])).toEqual(['untold critical'])
    const unread = transfer({
      key: 'a',
      at: 50,
      tenant: null,
      idempotency: { key: 'a', use: 'unused' },
      response: refused,
    })
    expect(outcomes([dropped('a', 0), unread], [booked('a')])).toEqual(['untold critical'])
  })

  test('misled: a fault put a refusal in the place of the outcome', () => {
    const response = { status: 422, code: 'insufficient_balance' }
    const parts = { response, faults: [error('after_broadcast')], ...byFault('insufficient_balance') }
    expect(outcomes([transfer({ key: 'a', ...parts })], [booked('a')])).toEqual(['misled none'])
  })

  test('not known yet: while the client runs, or when it is still under way', () => {
    expect(outcomes([dropped('a', 0)], [booked('a')], { ended: false })).toEqual(['not_known_yet inconclusive'])
    expect(outcomes([transfer({ key: 'a' })], [booked('a')], { ended: false })).toEqual(['told ok'])
    const ledger = { transfers: [], under_way: [booked('a')], portfolios: [] }
    expect(outcomes([dropped('a', 0)], [], { ledger })).toEqual(['not_known_yet inconclusive'])
  })

  test('key expired: more than once under one key', () => {
    const twice = [booked('a'), booked('a', { transaction_id: 'txn_2', tx_hash: '0x2' })]
    expect(outcomes([transfer({ key: 'a' }), transfer({ key: 'a', at: 9e7, connection: 2 })], twice)).toEqual([
      'key_expired review',
    ])
  })
})

test('given up in an outage that outlasts any patience: a warning; but not when the command ended well', () => {
  const outage = [{ id: 'fault-1', kind: 'outage', phase: 'during_response', explanation: '' }]
  const lost = transfer({ key: 'a', ...LOST, faults: outage })
  expect(outcomes([lost], [booked('a')], { end: 'failed' })).toEqual(['left_open warning'])
  expect(outcomes([lost], [], { end: 'failed' })).toEqual(['gave_up warning'])
  expect(outcomes([lost], [booked('a')], { end: 'well' })).toEqual(['untold critical'])
  expect(outcomes([lost, dropped('a', 50)], [booked('a')], { end: 'failed' })).toEqual(['left_open review'])
  const drop = [{ id: 'fault-1', kind: 'drop_connection', phase: 'during_response', explanation: '' }]
  const other = transfer({ key: 'a', ...LOST, faults: drop })
  expect(outcomes([other], [booked('a')], { end: 'failed' })).toEqual(['left_open review'])
})

test('an outcome has all that is known of its operation, and every request that shows it', () => {
  const [first, again] = [dropped('a', 0), transfer({ key: 'A', at: 50 })]
  expect(judged([first, again], [booked('a')])).toEqual([
    {
      outcome: 'told',
      level: 'ok',
      sentence: "alice's deposit of 250.00 USDC was carried out, and your client was told.",
      tenant: 'acme',
      external_id: 'alice',
      type: 'deposit',
      idempotency_key: 'a',
      amount_minor: '250000000',
      portfolio_id: 'jar_1',
      request_ids: [first.request_id, again.request_id],
    },
  ])
  expect(judged([first], [])[0]?.request_ids).toEqual([first.request_id])
})

test('outcomes stand by their level first, and then as the table has them', () => {
  const story = [
    transfer({ key: 'a' }),
    transfer({ key: 'a', at: 50 }),
    transfer({ key: 'b', at: 90, amount: '7', ...LOST }),
  ]
  expect(outcomes(story, [booked('a')])).toEqual(['gave_up review', 'key_again note', 'told ok'])
})

describe('looked up', () => {
  test('found: a list that came before any other write of that end user', () => {
    expect(outcomes([dropped('a', 0), list(50, ['0xa'])], [booked('a')])).toEqual(['found ok'])
    expect(outcomes([dropped('a', 0), list(50, []), list(90, ['0xa'])], [booked('a')])).toEqual(['found ok'])
  })

  test('perhaps told: another write came in between, so that the list may be read anyway', () => {
    const next = transfer({ key: 'b', at: 50, amount: '1' })
    const later = [booked('a'), booked('b', { amount_minor: '1' })]
    expect(outcomes([dropped('a', 0), next, list(90, ['0xa', '0xb'])], later)).toEqual([
      'perhaps_told review',
      'told ok',
    ])
  })

  test('a list that came before it, was not handed over, or is of somebody else shows nothing', () => {
    const before = list(0, ['0xa'])
    const lost = list(60, ['0xa'], { ...LOST, response: { status: 200 } })
    const unread = list(60, ['0xa'], { unread: true })
    const foreign = list(60, ['0xa'], { external_id: 'bob' })
    for (const look of [before, lost, unread, foreign]) {
      const story =
        [before, look].includes(before) && look === before ? [look, dropped('a', 50)] : [dropped('a', 20), look]
      expect(outcomes(story, [booked('a')])).toEqual(['untold critical'])
    }
  })

  test('a body that was cut may show it', () => {
    const cut = list(50, [], { response: { body_cut: true } })
    expect(outcomes([dropped('a', 0), cut], [booked('a')])).toEqual(['perhaps_told review'])
  })

  test('beside an unharmed run: found only if it asks for more lists than that', () => {
    const story = [dropped('a', 0), list(50, ['0xa'])]
    expect(outcomes(story, [booked('a')], { sibling: sibling({ lists: () => 1 }) })).toEqual(['perhaps_told review'])
    expect(outcomes(story, [booked('a')], { sibling: sibling({ lists: () => 0 }) })).toEqual(['found ok'])
  })

  test('perhaps told: by the balance, or by the chain', () => {
    const balance = exchange({ operation: 'list_portfolios', at: 50 })
    expect(outcomes([dropped('a', 0), balance], [booked('a')])).toEqual(['perhaps_told review'])
    expect(outcomes([dropped('a', 0)], [booked('a')], { rpc_at: 50 })).toEqual(['perhaps_told review'])
    expect(outcomes([dropped('a', 10)], [booked('a')], { rpc_at: 5 })).toEqual(['untold critical'])
  })

  test('answers to other transfers never count', () => {
    const other = transfer({ key: 'b', at: 50, amount: '1' })
    expect(outcomes([dropped('a', 0), other], [booked('a'), booked('b', { amount_minor: '1' })])).toEqual([
      'untold critical',
      'told ok',
    ])
  })
})

describe('carried out twice', () => {
  const again = transfer({ key: 'b', at: 50 })
  const both = [booked('a'), booked('b')]

  test('paid twice: nothing was known when it was sent again under another key', () => {
    expect(outcomes([dropped('a', 0), again], both)).toEqual(['paid_twice critical', 'told ok'])
    expect(outcomes([dropped('a', 0), again], both, { end: 'failed' })).toEqual(['paid_twice critical', 'told ok'])
  })

  test('after six attempts under one key as well', () => {
    const attempts = [0, 10, 20, 30, 40].map((at) => dropped('a', at))
    expect(outcomes([...attempts, again], both)).toEqual(['paid_twice critical', 'told ok'])
  })

  test('not when the first came again under its own key: two equal ones at once', () => {
    const first = transfer({ key: 'a', at: 0, until: 40, ...LOST })
    const story = [first, transfer({ key: 'b', at: 10, until: 60 }), transfer({ key: 'a', at: 70 })]
    expect(outcomes(story, both)).toEqual(['equal_at_once note', 'told ok', 'told ok'])
    expect(outcomes(story, both, { sibling: sibling({ made: [made(2)] }) })[0]).toBe('told ok')
    expect(outcomes(story, both, { sibling: sibling() })).toContain('equal_at_once review')
  })

  test('not when the list had shown the first', () => {
    expect(outcomes([dropped('a', 0), list(30, ['0xa']), again], both)).toEqual(['found ok', 'told ok'])
    expect(outcomes([dropped('a', 0), list(30, []), again], both)[0]).toBe('paid_twice critical')
  })

  test('a list of portfolios, as many clients ask for before each transfer, does not excuse it; nor is it luck', () => {
    const balance = exchange({ operation: 'list_portfolios', at: 30 })
    expect(outcomes([dropped('a', 0), balance, again], both)).toEqual(['paid_twice critical', 'told ok'])
    expect(outcomes([dropped('a', 0), balance, again], [booked('b')])).toEqual(['gave_up review', 'told ok'])
  })

  test('not when another amount, user or type was sent', () => {
    const of = (parts: Parameters<typeof transfer>[0], rest: object) =>
      outcomes([dropped('a', 0), transfer({ ...parts, at: 50 })], [booked('a'), booked('b', rest)])
    expect(of({ key: 'b', amount: '7' }, { amount_minor: '7' })[0]).toBe('untold critical')
    expect(of({ key: 'b', external_id: 'bob' }, { external_id: 'bob' })[0]).toBe('untold critical')
    expect(of({ key: 'b', operation: 'withdraw' }, { type: 'withdraw' })[0]).toBe('untold critical')
  })

  test('not when the unharmed run has as many: the second order is one of its own', () => {
    const unharmed = sibling({ made: [made(2)] })
    expect(outcomes([dropped('a', 0), again], both, { sibling: unharmed })).toEqual(['untold critical', 'told ok'])
    expect(outcomes([dropped('a', 0), again], both, { sibling: sibling() })[0]).toBe('paid_twice critical')
  })

  test('also when a refusal came before it was sent again that says nothing of the first', () => {
    const refused = transfer({
      key: 'a',
      at: 20,
      idempotency: { key: 'a', use: 'unused' },
      response: { status: 401, code: 'invalid_idp_token' },
    })
    expect(outcomes([dropped('a', 0), refused, again], both)).toEqual(['paid_twice critical', 'told ok'])
  })

  test('not when the second was never carried out, or is of another tenant', () => {
    expect(outcomes([dropped('a', 0), { ...again, ...LOST }], [booked('a')])).toEqual([
      'untold critical',
      'gave_up review',
    ])
    const foreign = transfer({ key: 'b', at: 50, tenant: 'globex' })
    expect(outcomes([dropped('a', 0), foreign], [booked('a'), booked('b', { tenant: 'globex' })])).toEqual([
      'untold critical',
      'told ok',
    ])
  })

  test('not when nobody knows what they ask for', () => {
    const [first, second] = [dropped('a', 0), again].map((one) => ({ ...one, request: { ...one.request, body: null } }))
    expect(outcomes([first!, second!], both)).toEqual(['untold critical', 'told ok'])
  })

  test('sent again begins when the first had ended, by the clock of a server that is a little late', () => {
    const first = transfer({ key: 'a', until: 20, ...LOST })
    expect(outcomes([first, transfer({ key: 'b', at: 10 })], both)[0]).toBe('paid_twice critical')
    expect(outcomes([first, transfer({ key: 'b', at: 9 })], both)[0]).toBe('untold critical')
  })

  test('as often as without faults is counted for operations of that amount that were carried out', () => {
    const other = transfer({ key: 'c', at: 90, amount: '7' })
    const refused = transfer({ key: 'd', at: 120, response: { status: 422, code: 'transaction_reverted' } })
    const ledger = [...both, booked('c', { amount_minor: '7' })]
    const of = (...made: ReturnType<typeof sibling>['made'][number][]) =>
      outcomes([dropped('a', 0), again, other, refused], ledger, { sibling: sibling({ made }) })[0]
    expect(of(made(2), made(1, { amount_minor: '7' }))).toBe('untold critical')
    expect(of(made(5, { amount_minor: '7' }), made(1))).toBe('paid_twice critical')
    expect(of()).toBe('paid_twice critical')
  })

  test('put right: one of them was taken back', () => {
    const back = transfer({ key: 'c', at: 90, operation: 'withdraw' })
    expect(outcomes([dropped('a', 0), again, back], [...both, booked('c', { type: 'withdraw' })])).toEqual([
      'paid_twice_put_right serious',
      'told ok',
      'told ok',
    ])
  })

  test('put right names every request that shows it', () => {
    const [first, retry] = [dropped('a', 0), transfer({ key: 'b', at: 60 })]
    const back = transfer({ key: 'c', at: 90, operation: 'withdraw' })
    const [outcome] = judged([first, again, retry, back], [...both, booked('c', { type: 'withdraw' })])
    expect(outcome).toMatchObject({
      outcome: 'paid_twice_put_right',
      request_ids: [first.request_id, again.request_id, back.request_id],
    })
  })

  test.each<[string, object, Parameters<typeof booked>[1] | null]>([
    ['was not carried out', {}, null],
    ['is of another amount', { amount: '7' }, { amount_minor: '7' }],
    ['is of another end user', { external_id: 'bob' }, { external_id: 'bob' }],
    ['is of another tenant', { tenant: 'globex' }, { tenant: 'globex' }],
    ['came before the second had ended', { at: 44 }, {}],
  ])('not put right by a withdrawal that %s', (_, parts, entry) => {
    const back = transfer({ key: 'c', at: 45, operation: 'withdraw', ...parts })
    const ledger = entry ? [...both, booked('c', { type: 'withdraw', ...entry })] : both
    const ids = judged([dropped('a', 0), again, back], ledger).map(({ outcome }) => outcome)
    expect(ids).toContain('paid_twice')
    expect(ids).not.toContain('paid_twice_put_right')
  })

  test('put right by one that was sent as the second ended; a third withdrawal puts nothing right', () => {
    const back = transfer({ key: 'c', at: 45, operation: 'withdraw' })
    const withdrawal = booked('c', { type: 'withdraw' })
    expect(outcomes([dropped('a', 0), again, back], [...both, withdrawal])[0]).toBe('paid_twice_put_right serious')
    const out = (key: string, at: number, parts: object = {}) => transfer({ key, at, operation: 'withdraw', ...parts })
    const taken = ['a', 'b', 'c'].map((key) => booked(key, { type: 'withdraw' }))
    expect(outcomes([out('a', 0, LOST), out('b', 50), out('c', 90)], taken)[0]).toBe('paid_twice critical')
  })
})

describe('two equal ones at once', () => {
  const pair = (second: Omit<Parameters<typeof transfer>[0], 'key'>, until = 30) => [
    transfer({ key: 'a', until }),
    transfer({ key: 'b', ...second }),
  ]
  const both = [booked('a'), booked('b')]
  const atOnce = (story: ReturnType<typeof pair>, ledger = both, rest = {}) =>
    judged(story, ledger, rest).filter(({ outcome }) => outcome === 'equal_at_once')

  test('were in flight together for longer than clocks differ', () => {
    const story = pair({ at: 19, until: 60 })
    expect(atOnce(story)).toMatchObject([
      { idempotency_key: 'a', request_ids: story.map(({ request_id }) => request_id) },
    ])
    expect(atOnce(pair({ at: 20, until: 60 }))).toEqual([])
    expect(atOnce(pair({ at: 2, until: 11 }))).toHaveLength(1)
    expect(atOnce(pair({ at: 2, until: 10 }))).toEqual([])
  })

  test('ask for the same, are known to, and were both carried out', () => {
    expect(atOnce(pair({ at: 5, until: 60, amount: '7' }), [booked('a'), booked('b', { amount_minor: '7' })])).toEqual(
      [],
    )
    expect(
      atOnce(pair({ at: 5, until: 60, external_id: 'bob' }), [booked('a'), booked('b', { external_id: 'bob' })]),
    ).toEqual([])
    expect(atOnce(pair({ at: 5, until: 60, ...LOST }), [booked('a')])).toEqual([])
    const vague = pair({ at: 5, until: 60 }).map((one) => ({ ...one, request: { ...one.request, body: null } }))
    expect(atOnce(vague)).toEqual([])
  })

  test('are no portfolios', () => {
    const make = (key: string, at: number) =>
      exchange({
        operation: 'create_portfolio',
        idempotency: { key, use: 'first' },
        request: { body: '{"name":"savings"}' },
        ...{ at, until: 60 },
      })
    const portfolios = ['a', 'b'].map((key) => ({ ...PORTFOLIO, portfolio_id: `jar_${key}`, key }))
    expect(atOnce([make('a', 0), make('b', 5)], [], { ledger: { transfers: [], under_way: [], portfolios } })).toEqual(
      [],
    )
  })
})

describe('not carried out', () => {
  const refusal = (status: number, code: string, use: 'first' | 'unused') => ({
    response: { status, code },
    idempotency: { key: 'a', use },
  })

  test('refused, and told: a note', () => {
    const reverted = transfer({ key: 'a', ...refusal(422, 'transaction_reverted', 'first') })
    const [outcome] = judged([reverted], [])
    expect(outcome).toMatchObject({ outcome: 'refused', level: 'note' })
    expect(outcome?.sentence).toBe(
      "alice's deposit of 250.00 USDC was refused (422 transaction_reverted), your client was told, and nothing moved.",
    )
  })

  test('put off, and told: a note; not after an attempt that told nothing', () => {
    const limited = transfer({ key: 'a', at: 50, ...refusal(429, 'rate_limited', 'unused') })
    expect(outcomes([limited], [])).toEqual(['put_off note'])
    expect(outcomes([dropped('a', 0), limited], [])).toEqual(['gave_up review'])
  })

  test('gave up: a warning beside an unharmed run, review without', () => {
    expect(outcomes([dropped('a', 0)], [])).toEqual(['gave_up review'])
    expect(outcomes([dropped('a', 0)], [], { sibling: sibling() })).toEqual(['gave_up warning'])
    expect(outcomes([dropped('a', 0), list(50, [])], [])).toEqual(['gave_up_looked warning'])
  })

  test('lucky: sent again under another key, and only one was carried out', () => {
    expect(outcomes([dropped('a', 0), transfer({ key: 'b', at: 50 })], [booked('b')])).toEqual([
      'lucky review',
      'told ok',
    ])
  })

  describe('a request refused for another body under its key', () => {
    const code = 'idempotency_key_in_use_with_different_params'
    const params = { aspect: 'Idempotency-Key', expected: null, came: null, detail: '' }
    const mismatch = (at: number, parts: object = {}) =>
      transfer({
        ...{ key: 'a', at, amount: '7', ...refusal(422, code, 'unused') },
        ...{ refusal: { check: 'idempotency_key' as const, code, ...params }, ...parts },
      })

    test('is an operation of its own, and refused', () => {
      expect(outcomes([transfer({ key: 'a' }), mismatch(50)], [booked('a')])).toEqual(['refused note', 'told ok'])
    })

    test('is no answer to the one that has the key when it cannot be read', () => {
      const cut = mismatch(50, { faults: [{ id: 'f', kind: 'malformed_body', phase: 'during_response' }] })
      expect(outcomes([transfer({ key: 'a', ...LOST }), cut], [booked('a')])).toEqual([
        'untold critical',
        'gave_up review',
      ])
      expect(outcomes([transfer({ key: 'a' }), cut, mismatch(90)], [booked('a')])).toEqual(['refused note', 'told ok'])
    })
  })

  test('answered as done, and not in the ledger: a mistake of the sandbox', () => {
    expect(outcomes([transfer({ key: 'a' })], [])).toEqual(['contradiction inconclusive'])
  })
})

describe('forgotten', () => {
  test('requests that are not on record any more, said once with the reasons', () => {
    const [outcome] = judged([], [], { forgotten: { room: 1, deleted: 2, reset: 3 } })
    expect(outcome).toMatchObject({
      ...{ outcome: 'forgotten', level: 'inconclusive', type: 'deposit', idempotency_key: null },
      ...{ tenant: null, external_id: null, amount_minor: null, portfolio_id: null, request_ids: [] },
    })
    expect(outcome?.sentence).toBe(
      'Nothing is said of 3 requests before a reset of the sandbox, nor of 2 requests that were deleted from the record, nor of one request for which the record had no room (--record-exchanges).',
    )
  })

  test('a reset counts for the command that is run, and begins anew where there is none', () => {
    const forgotten = { room: 0, deleted: 0, reset: 3 }
    expect(outcomes([], [], { forgotten, end: 'failed' })).toEqual(['forgotten inconclusive'])
    expect(outcomes([], [], { forgotten, end: null })).toEqual([])
  })

  test('a transfer of which no request is left', () => {
    const forgotten = { room: 0, deleted: 1, reset: 0 }
    expect(outcomes([], [booked('a')], { forgotten })).toEqual(['forgotten inconclusive', 'forgotten inconclusive'])
    expect(outcomes([], [booked('a')])).toEqual([])
  })

  test('one that a reset came upon', () => {
    const cut = transfer({ key: 'a', end: 'cut_off', response: null })
    expect(outcomes([cut], [])).toEqual(['forgotten inconclusive'])
    expect(outcomes([dropped('a', 0), cut], [])).toEqual(['forgotten inconclusive'])
  })

  test('writes that outlive the record are judged like others', () => {
    const kept = [{ ...dropped('a', 0), number: 1 }]
    const exchanges = [exchange({ operation: 'list_pools' })]
    expect(outcomes(exchanges, [booked('a')], { kept })).toEqual(['untold critical'])
  })
})

describe('a key that comes again', () => {
  const told = transfer({ key: 'a' })

  test('after its answer was read: a note; review when the unharmed run has none', () => {
    const again = transfer({ key: 'a', at: 50, idempotency: { key: 'a', use: 'replayed' } })
    expect(outcomes([told, again], [booked('a')])).toEqual(['key_again note', 'told ok'])
    expect(outcomes([told, again], [booked('a')], { sibling: sibling() })).toEqual(['key_again review', 'told ok'])
  })

  test('not when it came again before its answer did, by the clock of a server that is a little late', () => {
    const slow = transfer({ key: 'a', until: 100 })
    const at = (ms: number) => transfer({ key: 'a', at: ms, until: 110, idempotency: { key: 'a', use: 'joined' } })
    expect(outcomes([slow, at(89)], [booked('a')])).toEqual(['told ok'])
    expect(outcomes([slow, at(90)], [booked('a')])).toEqual(['key_again note', 'told ok'])
  })

  test('not when nothing shows that it was read', () => {
    const again = transfer({ key: 'a', at: 50, connection: 2, idempotency: { key: 'a', use: 'replayed' } })
    expect(outcomes([told, again], [booked('a')])).toEqual(['told ok'])
  })
})

describe('portfolios are one step milder', () => {
  const make = (key: string, at: number, parts: object = {}) =>
    exchange({
      operation: 'create_portfolio',
      at,
      idempotency: { key, use: 'first' },
      request: { body: '{"name":"savings"}' },
      response: { status: 201, body: `{"portfolio_id":"jar_${key}"}` },
      ...parts,
    })
  const portfolio = (key: string) => ({
    ...{ tenant: 'acme', external_id: 'alice', portfolio_id: `jar_${key}`, pool_id: 'aave-usdc' },
    ...{ token_symbol: 'USDC', token_decimals: 6, key },
  })
  const ledgerOf = (...keys: string[]) => ({ transfers: [], under_way: [], portfolios: keys.map(portfolio) })

  test('made and told, made and never told, made twice, found', () => {
    const lost = make('a', 0, LOST)
    expect(outcomes([make('a', 0)], [], { ledger: ledgerOf('a') })).toEqual(['told ok'])
    expect(outcomes([lost], [], { ledger: ledgerOf('a') })).toEqual(['untold serious'])
    expect(outcomes([lost], [], { ledger: ledgerOf('a'), end: 'failed' })).toEqual(['left_open warning'])
    expect(outcomes([lost, make('b', 50)], [], { ledger: ledgerOf('a', 'b') })).toEqual([
      'made_twice serious',
      'told ok',
    ])
    const look = exchange({ operation: 'list_portfolios', at: 50, response: { body: '{"portfolio_id":"jar_a"}' } })
    expect(outcomes([lost, look], [], { ledger: ledgerOf('a') })).toEqual(['found ok'])
  })

  test('one whose key is not kept any more is known by its answer', () => {
    const ledger = { transfers: [], under_way: [], portfolios: [{ ...portfolio('a'), key: null }] }
    expect(outcomes([make('a', 0)], [], { ledger })).toEqual(['told ok'])
  })
})

test('others have their turn while many operations are judged: after fifty at most, of both looks at each', () => {
  const keys = Array.from({ length: 500 }, (_, i) => `key-${i}`)
  const sent = keys.map((key, i) => transfer({ key, at: i * 1_000 }))
  const ledger = { transfers: keys.map((key) => booked(key)), under_way: [], portfolios: [PORTFOLIO] }
  const pauses = [...judgementInSteps(evidenceOf(sent, { ledger }))]
  expect(pauses.length).toBeGreaterThanOrEqual(20)
})

describe('money that moved wrongly', () => {
  const moved = (amount: string, times: number) => ({
    ...{ tenant: 'acme', external_id: 'alice', portfolio_id: 'jar_1' },
    ...{ amount_minor: amount, token_symbol: 'USDC', token_decimals: 6, times },
  })
  const wrong = (...story: Parameters<typeof judged>) =>
    judged(...story).map(({ outcome, money_moved_wrongly }) => [outcome, money_moved_wrongly])

  test('paid twice: one transfer too many, with amount, token and portfolio', () => {
    const twice = [dropped('a', 0), transfer({ key: 'b', at: 50 })]
    expect(wrong(twice, [booked('a'), booked('b')])).toEqual([
      ['paid_twice', moved('250000000', 1)],
      ['told', undefined],
    ])
  })

  test('paid three times: two operations with one too many each', () => {
    const thrice = [dropped('a', 0), dropped('b', 50), transfer({ key: 'c', at: 100 })]
    const all = wrong(thrice, [booked('a'), booked('b'), booked('c')])
    expect(all.filter(([, money]) => money)).toEqual([
      ['paid_twice', moved('250000000', 1)],
      ['paid_twice', moved('250000000', 1)],
    ])
  })

  test('carried out again when its key had expired: every time but the first', () => {
    const ledger = ['1', '2', '3'].map((n) => booked('a', { transaction_id: n, tx_hash: n, amount_minor: '7' }))
    const story = [0, 9e7, 18e7].map((at, i) => transfer({ key: 'a', at, connection: i + 1, amount: '7' }))
    expect(wrong(story, ledger)).toEqual([['key_expired', moved('7', 2)]])
  })

  test('none where it was put right, moved once, or never', () => {
    const back = transfer({ key: 'c', at: 90, operation: 'withdraw' })
    const out = booked('c', { type: 'withdraw' })
    const right = wrong([dropped('a', 0), transfer({ key: 'b', at: 50 }), back], [booked('a'), booked('b'), out])
    expect(right[0]?.[0]).toBe('paid_twice_put_right')
    expect(
      [...right, ...wrong([dropped('a', 0)], [booked('a')]), ...wrong([dropped('a', 0)], [])].flatMap(
        ([, money]) => money ?? [],
      ),
    ).toEqual([])
  })
})
