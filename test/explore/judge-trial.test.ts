import { describe, expect, test } from 'vitest'
import { BooksError } from '../../src/books/books.ts'
import type { TrialOutcome } from '../../src/explore/exploration.ts'
import { judgeTrial } from '../../src/explore/judge/judge-trial.ts'
import { compareBaselines } from '../../src/explore/run/baseline.ts'
import type { Observation } from '../../src/explore/run/exploration-sandbox.ts'
import { explorationExitCode, explorationSummary } from '../../src/explore/summary.ts'
import type { Level } from '../../src/oracle/outcome.ts'
import { LOST, transfer } from '../oracle/story.ts'
import type { ExchangeParts } from '../verdict/exchange.ts'
import { money } from './money.ts'
import { type Seen, seen } from './observation.ts'

const ALL = ['deposit 5', 'deposit 7']
const wanted = seen({ transfers: ALL })
const expected = compareBaselines(wanted, wanted)
const judged = (run: Seen) => judgeTrial(seen(run), expected)

describe('a trial', () => {
  test.each<[string, Seen, TrialOutcome, Level]>([
    ['same money, tests pass', { transfers: ALL }, 'survived', 'ok'],
    ['same money, tests fail', { transfers: ALL, code: 1 }, 'gave_up', 'warning'],
    ['stopped early, and knows of all it did', { transfers: ['deposit 5'], code: 1 }, 'stopped', 'warning'],
    ['stopped at the first list', { transfers: [], code: 1 }, 'stopped', 'warning'],
    ['left out an order, tests pass', { transfers: ['deposit 5'] }, 'not_asked_for', 'review'],
    ['never told of a deposit, tests pass', { transfers: ALL, answers: { 1: LOST } }, 'untold', 'critical'],
    ['never told of a deposit, tests fail', { transfers: ALL, answers: { 1: LOST }, code: 1 }, 'left_open', 'review'],
    ['paid twice, tests fail', { transfers: [...ALL, 'deposit 7'], code: 1 }, 'paid_twice', 'critical'],
    ['paid twice, tests pass', { transfers: [...ALL, 'deposit 7'] }, 'paid_twice', 'critical'],
    ['took out what was never put in', { transfers: [...ALL, 'withdraw 9'] }, 'took_out_unpaid', 'critical'],
    ['took back what it knew of', { transfers: [...ALL, 'withdraw 5'] }, 'taken_back', 'warning'],
    ['the fault never struck', { transfers: ALL, struck: [false] }, 'not_exercised', 'none'],
    ['one of two never struck', { transfers: ALL, struck: [true, false] }, 'not_exercised', 'none'],
    [
      'a loss is said although a fault never struck',
      { transfers: [...ALL, 'deposit 7'], struck: [false] },
      'paid_twice',
      'critical',
    ],
    ['money still on its way', { transfers: ALL, unsettled: 1 }, 'errored', 'inconclusive'],
    [
      'the audit fails',
      { transfers: ALL, audit: { ok: false, checks: [{ id: 'shares', ok: false, detail: '1 wrong' }] } },
      'errored',
      'inconclusive',
    ],
  ])('%s', (_, run, outcome, level) => {
    expect(judged(run)).toMatchObject({ outcome, level })
  })

  test('never ended', () => {
    const run = seen({ transfers: ALL, end: { code: null, signal: 'SIGTERM', timedOut: true, leftBehind: [] } })
    const hung = { ...run, evidence: { ...run.evidence, end: 'hung' as const } }
    expect(judgeTrial(hung, expected)).toMatchObject({ outcome: 'hung', level: 'serious' })
  })

  // Neither passed, nor found wanting: faults and record ended with the process that had them.
  test.each<Seen>([{ transfers: ALL, struck: [false] }, { transfers: [...ALL, 'deposit 7'] }])(
    'whose namespace another process took over is not judged',
    (run) => {
      const whole = seen(run)
      const moved = { ...whole, evidence: { ...whole.evidence, taken_over: '2026-01-01T00:00:00.000Z' } }
      const sentences = ['another process of the fleet took the namespace over during the run']
      expect(judgeTrial(moved, expected)).toMatchObject({ outcome: 'errored', level: 'inconclusive', sentences })
    },
  )

  test('in which a process of the sandbox cut a request off is not judged', () => {
    const whole = seen({ transfers: [...ALL, 'deposit 7'] })
    const exchanges = whole.evidence.exchanges.map((exchange, at) =>
      at === 0 ? { ...exchange, end: 'cut_off' as const } : exchange,
    )
    const cut = { ...whole, evidence: { ...whole.evidence, exchanges } }
    const sentences = ['a reset, or the end of a process of the sandbox, cut a request off during the run']
    expect(judgeTrial(cut, expected)).toMatchObject({ outcome: 'errored', level: 'inconclusive', sentences })
  })

  test('money that is elsewhere without any operation is not as it should be', () => {
    const elsewhere = { ...seen({ transfers: ALL }), money: money({ alice: ['deposit 5', 'deposit 8'] }) }
    expect(judgeTrial(elsewhere, expected)).toMatchObject({ outcome: 'another_amount', level: 'review' })
  })

  test('says what happened to whose money', () => {
    expect(judged({ transfers: [...ALL, 'deposit 7'] }).sentences).toEqual([
      "alice's deposit of 7.00 USDC was carried out more often than without faults. If your test runner repeats failed tests, switch that off.",
      'alice: 19.00 USDC in aave-usdc instead of 12.00 (deposit of 7.00: twice instead of once)',
    ])
  })

  test('a refusal that the unharmed run has too is nothing new; one more is a note', () => {
    const refused = (key: string): ExchangeParts => ({
      ...transfer({ key, at: 900, amount: '1' }),
      response: { status: 422, code: 'insufficient_balance' },
    })
    const suite = seen({ transfers: ALL, more: [refused('r')] })
    const usual = compareBaselines(suite, suite)
    expect(judgeTrial(suite, usual)).toMatchObject({ outcome: 'survived' })
    const more = seen({ transfers: ALL, more: [refused('r'), refused('s')] })
    expect(judgeTrial(more, usual)).toMatchObject({ outcome: 'refused', level: 'note' })
  })

  test('says how the command ended, and that the money is the same', () => {
    expect(judged({ transfers: ALL })).toEqual({
      outcome: 'survived',
      level: 'ok',
      sentences: ['the same money'],
      operations: [],
    })
    expect(judged({ transfers: ALL, code: 1 }).sentences).toEqual(['the same money, but the command ended with code 1'])
    expect(judged({ transfers: ALL.slice(0, 1), code: 1 }).sentences).toContain('the command ended with code 1')
  })

  test('money is as it should be where any run without faults left it', () => {
    const other = seen({ transfers: ['deposit 7', 'deposit 5', 'deposit 6'] })
    const either = { ...expected, money: [...compareBaselines(other, other).money, ...expected.money] }
    expect(judgeTrial(seen({ transfers: ALL }), either)).toMatchObject({ outcome: 'survived' })
  })

  test('sentences are those of the worst level and of what needs review, each once', () => {
    const refused: ExchangeParts = {
      ...transfer({ key: 'r', at: 900, amount: '1' }),
      response: { status: 422, code: 'insufficient_balance' },
    }
    const lost: ExchangeParts = { ...transfer({ key: 's', at: 950, amount: '2' }), ...LOST }
    const sentencesOf = (run: Seen) => judged(run).sentences.join(' ')
    const loss = sentencesOf({ transfers: ALL, answers: { 0: LOST, 1: LOST }, more: [refused, lost] })
    expect(loss.match(/and your command ended well without being told/g)).toHaveLength(2)
    expect(loss).not.toMatch(/was refused|was not carried out/)
    const open = sentencesOf({ transfers: ['deposit 5'], more: [refused, lost] })
    expect(open).toMatch(/was never asked for/)
    expect(open).not.toMatch(/was refused|was not carried out/)
    expect(sentencesOf({ transfers: ALL, more: [refused, lost] })).toMatch(/was not carried out/)
    expect(judged({ transfers: ALL, more: [refused] }).sentences).toHaveLength(1)
  })

  test('what a fault only misled the client about is nothing that the client did', () => {
    const misled: ExchangeParts = {
      response: { status: 422, code: 'insufficient_balance' },
      faults: [{ id: 'fault-1', kind: 'error', phase: 'after_broadcast', explanation: '' }],
      refusal: { check: 'fault', code: 'x', aspect: null, expected: null, came: null, detail: '' },
    }
    expect(judged({ transfers: ALL, answers: { 1: misled } })).toMatchObject({ outcome: 'survived', operations: [] })
  })

  test.each<[string, Partial<Observation>, string]>([
    ['one fault', { struck: [false] }, 'the fault never struck: no request came to that point'],
    ['one of two', { struck: [true, false] }, '1 of 2 faults struck: no request came to that point'],
  ])('says that %s never struck', (_, parts, sentence) => {
    expect(judged({ transfers: ALL, ...parts }).sentences).toEqual([sentence])
  })

  test('says why nothing can be said', () => {
    const end = (parts: object) => ({ code: null, signal: null, timedOut: false, leftBehind: [], ...parts })
    const sentencesOf = (before: object) => judged({ transfers: ALL, before: end(before) })
    expect(sentencesOf({ code: 2 })).toEqual({
      outcome: 'errored',
      level: 'inconclusive',
      sentences: ['--before failed: the command ended with code 2'],
      operations: [],
    })
    expect(sentencesOf({ signal: 'SIGKILL' }).sentences).toEqual(['--before failed: the command was ended by SIGKILL'])
    expect(sentencesOf({ timedOut: true }).sentences).toEqual(['--before failed: the command was not done in time'])
    const checks: Observation['audit']['checks'] = [
      { id: 'shares', ok: false, detail: '1 wrong' },
      { id: 'hashes', ok: true, detail: 'right' },
    ]
    expect(judged({ transfers: ALL, audit: { ok: false, checks } }).sentences).toEqual([
      "the sandbox's audit fails, shares: 1 wrong",
    ])
  })

  test('a fault that the command took away says so', () => {
    const { sentences } = judged({ transfers: ALL, struck: [false], takenAway: true })
    expect(sentences).toEqual(['the fault never struck: the command took it away'])
  })
})

describe('a trial with books', () => {
  const rows = (...states: ('done' | 'failed' | 'open')[]) => ({
    form: 1 as const,
    transfers: states.map((state, i) => ({
      ...{ external_id: 'alice', pool_id: 'aave-usdc', type: 'deposit' as const, state, idempotency_key: `k${i}` },
      amount_minor: ['5000000', '7000000'][i] ?? '7000000',
    })),
  })
  const UNTOLD = { transfers: ALL, answers: { 1: LOST } }
  const withoutLedger = (run: Observation): Observation => {
    const { ledger } = run.evidence
    const transfers = ledger.transfers.slice(0, 1)
    return {
      ...run,
      money: money({ alice: ['deposit 5'] }),
      evidence: { ...run.evidence, ledger: { ...ledger, transfers } },
    }
  }

  test('that are right survived what it would not have without them', () => {
    expect(judged({ ...UNTOLD, books: rows('done', 'open') })).toEqual({
      ...{ outcome: 'survived', level: 'ok', operations: [] },
      sentences: ['the books are right', 'the same money'],
    })
    const failed = judged({ ...UNTOLD, code: 1, books: rows('done', 'open') })
    expect(failed).toMatchObject({ outcome: 'survived', level: 'ok' })
    expect(failed.sentences).toContain('the command ended with code 1')
  })

  test('that are right explains less money, and says so', () => {
    const run = withoutLedger(seen({ ...UNTOLD, books: rows('done', 'failed') }))
    const { outcome, sentences } = judgeTrial(run, expected)
    expect(outcome).toBe('survived')
    expect(sentences[1]).toMatch(/^alice: 5\.00 USDC in aave-usdc instead of 12\.00/)
  })

  test.each<[string, Seen, TrialOutcome, Level]>([
    ['wrong, tests pass', { ...UNTOLD, books: rows('done', 'failed') }, 'wrong_books', 'critical'],
    ['wrong, tests fail', { ...UNTOLD, code: 1, books: rows('done', 'failed') }, 'wrong_books', 'serious'],
    ['wrong though all was told', { transfers: ALL, books: rows('done') }, 'wrong_books', 'critical'],
    ['lag', { transfers: ALL, books: rows('done', 'open') }, 'books_lag', 'warning'],
    ['right where nothing went wrong', { transfers: ALL, books: rows('done', 'done') }, 'survived', 'ok'],
    [
      'right, paid twice',
      { transfers: [...ALL, 'deposit 7'], books: rows('done', 'done', 'done') },
      'paid_twice',
      'critical',
    ],
    [
      'right, and the fault never struck',
      { ...UNTOLD, struck: [false], books: rows('done', 'open') },
      'not_exercised',
      'none',
    ],
    ['unreadable', { transfers: ALL, books: new BooksError('printed nothing') }, 'errored', 'inconclusive'],
  ])('that %s', (_, run, outcome, level) => {
    expect(judged(run)).toMatchObject({ outcome, level })
  })
})

describe('two runs without faults', () => {
  const run = (transfers: readonly string[], more: ExchangeParts[] = []) => seen({ transfers, more })

  test('alike: every place is one, and the names that both have are lasting', () => {
    const { difference, places, stable: names } = compareBaselines(run(ALL), run(ALL))
    expect([difference, places.length, [...names]]).toEqual([undefined, 3, ['alice']])
  })

  test('with other money', () => {
    expect(compareBaselines(run(ALL), run(['deposit 5'])).difference).toMatch(/^alice: 5\.00 USDC/)
  })

  test('with one request more, or another answer', () => {
    const poll: ExchangeParts = { operation: 'list_transactions' }
    expect(compareBaselines(run(ALL), run(ALL, [poll])).difference).toBe(
      'list_transactions#1@alice is in the second run only',
    )
    expect(compareBaselines(run(ALL, [poll]), run(ALL)).difference).toBe(
      'list_transactions#1@alice is in the first run only',
    )
    const refused: ExchangeParts = { ...poll, response: { status: 404, code: 'not_found' } }
    expect(compareBaselines(run(ALL, [poll]), run(ALL, [refused])).difference).toBe(
      'list_transactions#1@alice was answered 200 in the first run and 404 not_found in the second',
    )
  })

  test('have only those places in common that both have', () => {
    const poll: ExchangeParts = { operation: 'list_transactions' }
    expect(compareBaselines(run(ALL, [poll]), run(ALL)).places).toHaveLength(3)
  })

  test('count the keys that both used', () => {
    expect(compareBaselines(run(ALL), run(ALL)).shared).toBe(2)
    expect(compareBaselines(run(ALL), run([])).shared).toBe(0)
  })
})

test.each<[TrialOutcome[], Level[], string, number]>([
  [['survived', 'gave_up'], ['ok', 'warning'], 'passed', 0],
  [['survived', 'refused'], ['ok', 'note'], 'passed', 0],
  [['survived', 'paid_twice'], ['ok', 'critical'], 'failed', 3],
  [['survived', 'made_twice'], ['ok', 'serious'], 'failed', 3],
  [['hung'], ['serious'], 'failed', 3],
  [['survived', 'left_open'], ['ok', 'review'], 'inconclusive', 4],
  [['survived', 'errored'], ['ok', 'inconclusive'], 'inconclusive', 4],
  [['survived', 'not_exercised'], ['ok', 'none'], 'passed', 0],
  [['not_exercised'], ['none'], 'inconclusive', 4],
  [[], [], 'inconclusive', 4],
])('%s at %s is %s, exit code %i', (outcomes, levels, verdict, code) => {
  const results = outcomes.map((outcome, i) => ({ outcome, level: levels[i] })) as Parameters<
    typeof explorationSummary
  >[0]['results']
  expect([explorationSummary({ results }).verdict, explorationExitCode({ results, untried: null })]).toEqual([
    verdict,
    code,
  ])
})
