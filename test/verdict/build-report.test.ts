import { describe, expect, test } from 'vitest'
import { buildReport, type ReportContext } from '../../src/verdict/build-report.ts'
import { type Finding, failed, needsReview, notExercised, passed } from '../../src/verdict/finding.ts'
import { evidenceOf, finding, rightFinding, wrongFinding } from './evidence.ts'
import { exchange } from './exchange.ts'
import { carriedOut, DROPPED, key, ledgerTransfer, transfer } from './requests.ts'

const context = (rest: Partial<ReportContext> = {}): ReportContext => ({
  findings: [finding()],
  version: '1.2.3',
  seed: 7,
  faultKinds: ['drop_connection', 'latency'],
  ...rest,
})

const pools = () => exchange({ operation: 'list_pools' })
const TRANSFER = {
  idempotency: { key: 'k1', use: 'first' as const },
  request: { body: '{"portfolio_id":"jar_1","amount_minor":"1000"}' },
}
const LEDGER = {
  ...{ transaction_id: 'txn_1', type: 'deposit' as const, tenant: 'acme', external_id: 'alice' },
  ...{ portfolio_id: 'jar_1', amount_minor: '1000', tx_hash: '0x1' },
}

const drop = { id: 'fault-1', kind: 'drop_connection', phase: 'after_broadcast', explanation: 'It breaks.' }

describe('the verdict', () => {
  test('is failed when a finding is, with the gravest in its sentence', () => {
    const findings = [
      wrongFinding({ id: 'connection-reuse', impact: 'minor', failureTitle: 'Each request opens a connection' }),
      wrongFinding(),
      rightFinding({ id: 'retry-after' }),
    ]
    const report = buildReport(evidenceOf([pools(), pools()]), context({ findings }))
    expect(report.verdict).toBe('failed')
    expect(report.summary).toBe(
      'Failed: a dropped transfer was retried with a new Idempotency-Key: this pays twice (and 1 more).',
    )
    expect([report.proved, report.contradicted, report.unproved]).toEqual([1, 2, 0])
    expect(report.findings.map(({ id }) => id)).toEqual(['idempotency-key-on-retry', 'retry-after', 'connection-reuse'])
  })

  test('is passed when what is required was proved', () => {
    const scenario = { name: 'dropped-deposit', findings: ['idempotency-key-on-retry' as const], traffic: {} }
    const report = buildReport(evidenceOf([pools()]), context({ findings: [rightFinding()], scenario }))
    expect(report).toMatchObject({
      verdict: 'passed',
      summary: 'Passed: 1 rule kept, none broken.',
      unmet: [],
    })
  })

  test.each([
    ['not exercised', finding(), 'was not exercised'],
    [
      'in need of review',
      finding({ impact: 'serious', judge: () => needsReview('Nobody can know.', []) }),
      'needs review',
    ],
  ])('is inconclusive when a required finding is %s', (_what, one, because) => {
    const findings = [one, rightFinding({ id: 'retry-after' })]
    const lax = buildReport(evidenceOf([pools()]), context({ findings }))
    const strict = buildReport(evidenceOf([pools()]), context({ findings, required: ['idempotency-key-on-retry'] }))
    expect(lax.verdict).toBe('passed')
    expect(strict.verdict).toBe('inconclusive')
    expect(strict.unmet).toEqual([`The required finding idempotency-key-on-retry ${because}.`])
  })

  test('is inconclusive when a critical finding needs review, whoever asks for it', () => {
    const findings = [
      finding({ judge: () => needsReview('Nobody can know.', []) }),
      rightFinding({ id: 'retry-after' }),
    ]
    const report = buildReport(evidenceOf([pools()]), context({ findings }))
    expect(report).toMatchObject({
      verdict: 'inconclusive',
      unmet: ['The critical finding idempotency-key-on-retry needs review.'],
    })
  })

  test('has the money as its first line', () => {
    const lost = exchange({ ...TRANSFER, end: 'dropped', dropped: 'reset', response: null })
    const ledger = { transfers: [{ ...LEDGER, key: 'k1' }], under_way: [], portfolios: [] }
    const report = buildReport(evidenceOf([lost], { ledger }), context({ findings: [wrongFinding()] }))
    expect(report.verdict).toBe('failed')
    expect(report.summary).toMatch(
      /^Failed: alice's deposit of 1000 minor units was carried out, and your command ended/,
    )
    expect(report.operations).toMatchObject([{ outcome: 'untold', level: 'critical', request_ids: [lost.request_id] }])
    expect(report.exchanges.map(({ request_id }) => request_id)).toEqual([lost.request_id])
  })

  test('is inconclusive when anything was forgotten, and says so first', () => {
    const evidence = evidenceOf([pools()], { forgotten: { room: 0, deleted: 0, reset: 12 } })
    const report = buildReport(evidence, context({ findings: [rightFinding()] }))
    expect(report.summary).toBe('Inconclusive: nothing is said of 12 requests before a reset of the sandbox.')
  })

  test('is at most inconclusive when a judge throws, and the others go on', () => {
    const broken = finding({
      judge: () => {
        throw new Error('out of luck')
      },
    })
    const report = buildReport(
      evidenceOf([pools()]),
      context({ findings: [broken, rightFinding({ id: 'retry-after' })] }),
    )
    expect(report.verdict).toBe('inconclusive')
    expect(report.findings.map(({ outcome }) => outcome)).toEqual(['errored', 'passed'])
    expect(report.findings[0]?.explanation).toContain('out of luck')
  })

  test('is inconclusive when nothing was exercised', () => {
    expect(buildReport(evidenceOf([]), context()).summary).toBe('Inconclusive: no request of the client came.')
    expect(buildReport(evidenceOf([pools()]), context()).summary).toBe(
      'Inconclusive: the client was not exercised on anything that there is a finding about.',
    )
  })

  test('is inconclusive when expected traffic was not seen', () => {
    const traffic = { operations: ['deposit', 'withdraw'], errors: ['cursor_expired'], faults: ['drop_connection'] }
    const scenario = { name: 'mine', findings: [], traffic }
    const seen = exchange({ ...TRANSFER, end: 'dropped', dropped: 'reset', response: null, faults: [drop] })
    const report = buildReport(evidenceOf([seen]), context({ findings: [rightFinding()], scenario }))
    expect(report.verdict).toBe('inconclusive')
    expect(report.unmet.slice(1)).toEqual([
      'The scenario expects the operation withdraw, and the client never asked for it.',
      'The scenario expects the error cursor_expired, and nothing was answered with it.',
    ])
  })
})

describe('a mistake in the set-up', () => {
  const token = (fingerprint: string) => ({ fingerprint, header: null, claims: null })
  const tokens = (user: string) => ({
    operation: 'list_portfolios' as const,
    request: { user_token: token(user), idp_token: token('i1') },
  })
  const refusal = {
    check: 'user_token' as const,
    code: 'invalid_user_token',
    aspect: 'iss',
    expected: null,
    came: null,
    detail: '',
  }
  const refused = () => exchange({ ...tokens('u1'), response: { status: 401, code: 'invalid_user_token' }, refusal })
  const seeing = (seen: string[]) =>
    finding({
      judge: ({ exchanges }) => {
        seen.push(...exchanges.map(({ request_id }) => request_id))
        return passed('It was kept.', [])
      },
    })

  test('keeps a verdict from passed when it stands in the way, and takes what it explains out of the evidence', () => {
    const seen: string[] = []
    const report = buildReport(evidenceOf([refused(), refused()]), context({ findings: [seeing(seen)] }))
    expect([report.verdict, report.configuration.length, seen]).toEqual(['inconclusive', 1, []])
  })

  test('is shown, and no more, when requests got past it before', () => {
    const seen: string[] = []
    const right = exchange(tokens('u2'))
    const report = buildReport(evidenceOf([right, refused()]), context({ findings: [seeing(seen)] }))
    expect(report).toMatchObject({ verdict: 'passed', unmet: [], configuration: [{ blocking: false }] })
    expect(seen).toEqual([right.request_id])
  })
})

test('coverage counts operations, error codes and faults', () => {
  const refused = { response: { status: 410, code: 'cursor_expired' }, operation: 'list_transactions' as const }
  const { coverage } = buildReport(
    evidenceOf([exchange(refused), exchange(refused), exchange({ faults: [drop], end: 'dropped' })]),
    context(),
  )
  expect(coverage.operations.filter(({ exercised }) => exercised)).toEqual([
    { id: 'deposit', exercised: true, count: 1 },
    { id: 'list_transactions', exercised: true, count: 2 },
  ])
  expect(coverage.errors.filter(({ count }) => count > 0)).toEqual([
    { id: 'cursor_expired', exercised: true, count: 2 },
  ])
  expect(coverage.errors.map(({ id }) => id)).not.toContain('scenario_not_found')
  expect(coverage.faults).toEqual([
    { id: 'drop_connection', exercised: true, count: 1 },
    { id: 'latency', exercised: false, count: 0 },
  ])
})

test('what the record had no room for has been seen all the same, and what is forgotten may have been', () => {
  const traffic = { operations: ['deposit'], errors: ['cursor_expired'], faults: ['drop_connection'] }
  const scenario = { name: 'mine', findings: [], traffic }
  const kept = [exchange({ ...TRANSFER, end: 'dropped', dropped: 'reset', response: null, faults: [drop] })]
  const unmetOf = (parts: Parameters<typeof evidenceOf>[1]) =>
    buildReport(evidenceOf([pools()], parts), context({ findings: [rightFinding()], scenario })).unmet
  const error = 'The scenario expects the error cursor_expired, and nothing was answered with it.'
  expect(unmetOf({ kept }).filter((reason) => reason.startsWith('The scenario'))).toEqual([error])
  const forgotten = { room: 0, deleted: 3, reset: 0 }
  const lost = 'Nothing is said of 3 requests that were deleted from the record.'
  expect(unmetOf({ forgotten })).toEqual([lost])
  expect(unmetOf({ forgotten, kept }).filter((reason) => reason.startsWith('The scenario'))).toEqual([])
})

test('the last twenty requests that moved a whole balance are shown, whatever names them', () => {
  const whole = { tx_hash: '0x1', transaction_id: 'txn_1', shown_by: 'req_9' } as never
  const all = Array.from({ length: 25 }, () => exchange({ operation: 'withdraw', transfer: whole }))
  const shown = buildReport(evidenceOf([pools(), ...all]), context()).exchanges.map(({ request_id }) => request_id)
  expect(shown.slice(-20)).toEqual(all.slice(-20).map(({ request_id }) => request_id))
  expect(buildReport(evidenceOf([pools()]), context()).exchanges).toEqual([])
})

test('a report says what the sandbox was and when it was made', () => {
  const report = buildReport(evidenceOf([pools()]), context())
  expect(report).toMatchObject({ version: '1.2.3', seed: 7, created_at: '1970-01-01T00:16:40.000Z' })
})

describe('a finding in a report', () => {
  const of = (one: ReturnType<typeof finding>, rest: Partial<ReportContext> = {}) =>
    buildReport(evidenceOf([pools()]), context({ findings: [one], ...rest })).findings[0]
  const command = 'yield-sandbox exec --scenario dropped-deposit -- <your test command>'

  test('that failed has what was expected and what came, the fix, and the command', () => {
    expect(of(wrongFinding())).toMatchObject({
      title: 'A dropped transfer was retried with a new Idempotency-Key: this pays twice',
      explanation: 'alice paid twice.',
      ...{ expected: 'key 1', came: 'key 2', exercise_with: command },
      fix: 'Make the key once per operation, outside the retry loop.',
    })
  })

  test('that was kept has none of that', () => {
    const kept = of(rightFinding())
    expect(kept).toMatchObject({ title: 'A retry keeps its Idempotency-Key', explanation: 'It was kept.' })
    for (const field of ['expected', 'came', 'fix', 'exercise_with']) expect(kept).not.toHaveProperty(field)
  })

  test('that needs review has the fix; one that was not exercised says what it takes', () => {
    const review = of(finding({ judge: () => needsReview('Nobody can know.', []) }))
    expect(review).toMatchObject({ fix: expect.any(String), exercise_with: command, explanation: 'Nobody can know.' })
    const idle = of(finding({ judge: () => notExercised('') }))
    expect(idle).toMatchObject({ explanation: 'It takes a transfer whose connection drops.', exercise_with: command })
    expect(idle).not.toHaveProperty('fix')
    expect(of(finding())?.explanation).toBe('No transfer was dropped.')
    expect(of(finding({ judge: () => needsReview('', []) }))?.explanation).toBe('')
  })

  test('whose situation any run has needs no flag', () => {
    expect(of(finding({ exerciseWith: '' }))?.exercise_with).toBe('yield-sandbox exec -- <your test command>')
  })

  test('names twenty requests at most', () => {
    const all = Array.from({ length: 25 }, pools)
    const many = finding({ judge: ({ exchanges }) => passed('It was kept.', exchanges) })
    const report = buildReport(evidenceOf(all), context({ findings: [many] }))
    expect(report.findings[0]?.request_ids).toEqual(all.slice(0, 20).map(({ request_id }) => request_id))
    expect(report.exchanges).toHaveLength(20)
  })

  test('is counted as proved, contradicted or unproved', () => {
    const findings = [
      rightFinding(),
      wrongFinding({ id: 'retry-after' }),
      finding({ id: 'polling-pace' }),
      finding({ id: 'client-timeout', judge: () => needsReview('Nobody can know.', []) }),
    ]
    const report = buildReport(evidenceOf([pools()]), context({ findings }))
    expect([report.proved, report.contradicted, report.unproved]).toEqual([1, 1, 2])
    expect(report).not.toHaveProperty('scenario')
    const scenario = { name: 'mine', findings: [], traffic: {} }
    expect(buildReport(evidenceOf([]), context({ scenario }))).toHaveProperty('scenario', 'mine')
  })
})

test('requests of operations are shown where somebody has to look, and of no others', () => {
  const shownOf = (parts: object, transfers: (typeof LEDGER & { key: string })[]) => {
    const sent = exchange({ ...TRANSFER, ...parts })
    return buildReport(evidenceOf([pools(), sent], { transfers }), context()).exchanges.length
  }
  const done = [{ ...LEDGER, key: 'k1' }]
  const refused = { response: { status: 422, code: 'insufficient_balance' } }
  const byFault = { check: 'fault', code: 'x', aspect: null, expected: null, came: null, detail: '' }
  expect(shownOf({}, done)).toBe(0)
  expect(shownOf(refused, [])).toBe(0)
  expect(shownOf({ ...refused, faults: [{ ...drop, kind: 'error' }], refusal: byFault }, done)).toBe(0)
  expect(shownOf({ end: 'dropped', response: null }, done)).toBe(1)
})

test('coverage counts no error that nobody was answered with', () => {
  const lost = exchange({ end: 'dropped', response: { status: 410, code: 'cursor_expired' } })
  const { coverage } = buildReport(evidenceOf([lost, exchange({ end: 'answered', response: null })]), context())
  expect(coverage.errors.filter(({ exercised }) => exercised)).toEqual([])
})

test('a failed finding brings its exchanges, and the command that shows it again', () => {
  const dropped = exchange({ at: 1000, until: 1200, end: 'dropped', dropped: 'reset', response: null, faults: [drop] })
  const again = exchange({ at: 1500, idempotency: { key: 'k2', use: 'first' } })
  const scenario = { name: 'dropped-deposit', findings: [], traffic: {} }
  const report = buildReport(
    evidenceOf([exchange(), dropped, again].slice(1)),
    context({ findings: [wrongFinding()], scenario }),
  )
  expect(report.findings[0]?.exercise_with).toBe(
    'yield-sandbox exec --scenario dropped-deposit --seed 7 -- <your test command>',
  )
  expect(report.exchanges).toMatchObject([
    { answer: 'connection reset', arrived: false, at_ms: 0, fault: 'drop_connection at after_broadcast: It breaks.' },
    { answer: '200', arrived: true, at_ms: 500, idempotency_key: 'k2' },
  ])
})

describe('what programs need of a finding', () => {
  const lost = transfer(1, 0, { ...DROPPED, ...carriedOut('tx_a') })
  const again = transfer(2, 50, { ...carriedOut('tx_b'), connection: 2 })
  const portfolios = [
    {
      ...{ tenant: 'acme', external_id: 'alice', portfolio_id: 'jar_1', pool_id: 'aave-usdc' },
      ...{ token_symbol: 'USDC', token_decimals: 6, key: null },
    },
  ]
  const ledger = {
    transfers: [ledgerTransfer('tx_a', { key: key(1) }), ledgerTransfer('tx_b', { key: key(2) })],
    under_way: [],
    portfolios,
  }
  const evidence = evidenceOf([lost, again], { ledger })
  const of = (given: typeof evidence, ...findings: Finding[]) => buildReport(given, context({ findings }))
  const naming = (...named: { request_id: string }[]) =>
    named.map(({ request_id }) => ({ request_id, number: Number(request_id.slice(-3)) || 1 }))
  const broken = wrongFinding({
    judge: () =>
      failed('of 1000 minor units, of 77 minor units', { expected: '1000 minor units', came: '' }, naming(lost, again)),
  })
  const review = (named: { request_id: string }[], rest: Partial<Finding> = {}) =>
    finding({ id: 'single-transfer', judge: () => needsReview('Perhaps.', naming(...named)), ...rest })

  test('amounts that its texts state, each once, with their token where a portfolio shows it', () => {
    const { findings } = of(evidence, broken, rightFinding())
    expect(findings.map(({ amounts }) => amounts)).toEqual([
      [
        { amount_minor: '1000', token_symbol: 'USDC', token_decimals: 6 },
        { amount_minor: '77', token_symbol: null, token_decimals: null },
      ],
      undefined,
    ])
  })

  test('money that moved wrongly, of a critical failure that names both payments', () => {
    const one = wrongFinding({
      id: 'outcome-after-drop',
      judge: () => failed('', { expected: '', came: '' }, naming(lost)),
    })
    const mild = wrongFinding({ id: 'retry-pace', impact: 'minor' })
    const { findings, operations } = of(evidence, broken, one, mild)
    const moved = { ...{ tenant: 'acme', external_id: 'alice', portfolio_id: 'jar_1' }, amount_minor: '1000', times: 1 }
    expect(operations[0]).toMatchObject({ outcome: 'paid_twice', money_moved_wrongly: moved })
    expect(findings.map(({ id, money_moved_wrongly }) => [id, money_moved_wrongly])).toEqual([
      ['idempotency-key-on-retry', { ...moved, token_symbol: 'USDC', token_decimals: 6 }],
      ['outcome-after-drop', undefined],
      ['retry-pace', undefined],
    ])
  })

  test('a finding that needs review names the broken rule of the same event', () => {
    const explained = (named: { request_id: string }[], ...findings: Finding[]) =>
      of(evidence, review(named), ...findings).findings.find(({ id }) => id === 'single-transfer')?.explained_by
    expect(explained([lost, again], broken)).toBe('idempotency-key-on-retry')
    expect(explained([lost], broken)).toBeUndefined()
    expect(explained([lost, { request_id: 'req_other_9' }], broken)).toBeUndefined()
    expect(explained([lost, again], rightFinding())).toBeUndefined()
    expect(explained([lost, again], { ...broken, impact: 'minor' })).toBeUndefined()
    expect(
      of(evidence, review([lost, again], { impact: 'serious' }), broken).findings.at(-1)?.explained_by,
    ).toBeUndefined()
  })

  test('the headline says first where money is wrong, then what is not known, then whether rules are broken', () => {
    const told = transfer(2, 50, carriedOut('tx_b'))
    const headline = (...given: Parameters<typeof of>) => of(...given).headline
    expect(headline(evidence, broken)).toBe('0.001 USDC moved twice for alice.')
    expect(headline(evidenceOf([]), rightFinding())).toBe('No money was asked to move.')
    const good = evidenceOf([told], { ledger })
    expect(headline(good, rightFinding())).toMatch(/^Money is right after \d operations?\.$/)
    expect(headline(good, wrongFinding())).toMatch(/^Money is right after \d operations?, but 1 rule is broken\.$/)
    const open = {
      ...evidenceOf([lost], { ledger: { ...ledger, transfers: ledger.transfers.slice(0, 1) } }),
      end: null,
    }
    expect(headline(open, rightFinding())).toBe('No money is known to be wrong, but 1 operation needs a look.')
    expect(headline(open, wrongFinding())).toBe(
      'No money is known to be wrong, but 1 operation needs a look, and 1 rule is broken.',
    )
    expect(headline({ ...open, end: 'well' }, rightFinding())).toMatch(
      /^alice's deposit of 0\.001 USDC was carried out, and your command ended well/,
    )
    expect(headline({ ...open, ended: false }, rightFinding())).toMatch(
      /was still under way: nothing is known of it yet\.$/,
    )
  })
})
