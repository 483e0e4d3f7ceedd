import { Value } from '@sinclair/typebox/value'
import { describe, expect, test } from 'vitest'
import { evidenceOf } from '../../src/certify/certify.ts'
import { type CertificateEvidence, EvidenceSchema } from '../../src/certify/evidence.ts'
import type { Run } from '../../src/exec/sandbox-run.ts'
import type { Exploration, TrialResult } from '../../src/explore/exploration.ts'
import type { OperationOutcome } from '../../src/oracle/outcome.ts'
import type { Scenario } from '../../src/scenarios/scenario-schema.ts'
import { reportOf } from '../exec/report.ts'

const terms = { subject: undefined, flags: ['--before', 'x'], fixtures: null }

/** Evidence of one scenario, and of runs with one fault at deposits of these end users. */
function evidence(given: {
  scenario?: Partial<Scenario>
  operations?: OperationOutcome[]
  results?: TrialResult[]
  difference?: string
}): CertificateEvidence {
  const scenario: Scenario = { name: 'own', description: 'x', faults: [], clock: [], expect: {}, ...given.scenario }
  const end = { code: 1, signal: null, timedOut: false, leftBehind: [] }
  const report = { ...reportOf('passed', { 'retry-after': 'passed' }), operations: given.operations ?? [] }
  const run: Run = { scenario, end, took: 5, report, otherNamespaces: 0, missed: [] }
  const explored = exploration(given.results ?? [result({})])
  const { difference = null } = given
  const made = evidenceOf([run], { ...explored, baseline: { ...explored.baseline, difference } }, terms)
  expect(Value.Check(EvidenceSchema, made)).toBe(true)
  return made
}

function exploration(results: TrialResult[]): Exploration {
  return {
    version: '0',
    command: ['npm', 'test'],
    seed: 1,
    clock: '2026-01-01T00:00:00Z',
    created_at: '2026-01-01T00:00:00Z',
    baseline: { exchanges: 1, positions: 1, took_ms: [1, 2], difference: null, left_behind: [], shared_keys: 0 },
    results,
    untried: null,
    took_ms: 1,
    jobs: 1,
  }
}

const LEVELS = {
  survived: 'ok',
  not_exercised: 'none',
  errored: 'inconclusive',
  hung: 'serious',
  untold: 'critical',
  left_open: 'review',
} as const

/** Of a run with a fault at the first deposit of alice, whose name is the same in every run. */
function result(parts: { outcome?: keyof typeof LEVELS; sentences?: string[]; name?: string | null }): TrialResult {
  const { outcome = 'survived', sentences = ['The money is the same.'], name = 'alice' } = parts
  const position = { operation: 'deposit' as const, tenant: null, external_id: name, end_user: 1, ordinal: 1 }
  const hazard = { id: 'reverted', title: 'reverted', rule: { kind: 'revert' as const } }
  const trial = { id: `deposit#1@${name} reverted`, harms: [{ position, hazard }] }
  const level = LEVELS[outcome]
  return {
    trial,
    outcome,
    level,
    sentences,
    operations: [],
    findings: [],
    end: '0',
    took_ms: 1,
    overhead_ms: 1,
    repeat: 'again',
  }
}

function operation(parts: Partial<OperationOutcome>): OperationOutcome {
  return {
    outcome: 'refused',
    level: 'note',
    sentence: 'A sentence with an amount.',
    tenant: 'acme',
    external_id: 'alice',
    type: 'deposit',
    idempotency_key: 'key-1',
    amount_minor: '1000000',
    portfolio_id: 'portfolio-1',
    request_ids: ['req_1'],
    ...parts,
  }
}

test('evidence has what was run, and which scenario shows what', () => {
  const made = evidence({})
  expect(made).toMatchObject({
    subject: null,
    command: ['npm', 'test'],
    flags: ['--before', 'x'],
    fixtures: null,
    seed: 1,
  })
  expect(made.findings.find(({ id }) => id === 'retry-after')?.proved_in).toEqual(['own'])
  expect(made.exploration.repeatable).toBe(true)
  expect(evidence({ difference: 'alice: 1.00 and 2.00' }).exploration.repeatable).toBe(false)
})

describe('a scenario', () => {
  test('has whether its command may fail, and how it ended', () => {
    expect(evidence({}).scenarios).toEqual([
      { name: 'own', verdict: 'passed', end: '1', may_fail: false, operations: [] },
    ])
    expect(evidence({ scenario: { expect: { command: 'may_fail' } } }).scenarios[0]?.may_fail).toBe(true)
    expect(evidence({ scenario: { expect: { command: 'well' } } }).scenarios[0]?.may_fail).toBe(false)
  })

  test('has what is not well of its operations, the worst first, alike ones counted', () => {
    const operations = [
      operation({}),
      operation({ outcome: 'told', level: 'ok' }),
      operation({ idempotency_key: 'key-2', amount_minor: '7', request_ids: ['req_9'] }),
      operation({ outcome: 'paid_twice', level: 'critical' }),
    ]
    expect(evidence({ operations }).scenarios[0]?.operations).toEqual([
      { type: 'deposit', external_id: 'alice', outcome: 'paid_twice', level: 'critical', count: 1 },
      { type: 'deposit', external_id: 'alice', outcome: 'refused', level: 'note', count: 2 },
    ])
  })

  test('has the worst first, whatever the names', () => {
    const operations = [
      operation({ external_id: 'alice', outcome: 'gave_up', level: 'warning' }),
      operation({ external_id: 'user-4711', outcome: 'paid_twice', level: 'critical' }),
      operation({ external_id: 'alice', outcome: 'left_open', level: 'review' }),
    ]
    const outcomes = evidence({ operations }).scenarios[0]?.operations.map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['paid_twice', 'left_open', 'gave_up'])
  })

  test('has no name of an end user that another run does not have', () => {
    const operations = [operation({ external_id: 'user-4711' }), operation({ external_id: 'user-4712' })]
    expect(evidence({ operations }).scenarios[0]?.operations).toEqual([
      { type: 'deposit', external_id: null, outcome: 'refused', level: 'note', count: 2 },
    ])
  })
})

describe('an incident', () => {
  const sentencesOf = (...results: TrialResult[]) => evidence({ results }).exploration.incidents[0]?.sentences

  test('is what went wrong, not what went well', () => {
    expect(evidence({}).exploration.incidents).toEqual([])
    expect(evidence({ results: [result({ outcome: 'not_exercised' })] }).exploration.incidents).toEqual([])
    expect(evidence({ results: [result({ outcome: 'hung' })] }).exploration.incidents).toHaveLength(1)
    expect(evidence({ results: [result({ outcome: 'errored' })] }).exploration.incidents).toHaveLength(1)
    expect(evidence({ results: [result({ outcome: 'left_open' })] }).exploration.incidents).toHaveLength(1)
  })

  test('is one for each place and hazard; runs stand by their names', () => {
    const named = (id: string, parts: Parameters<typeof result>[0], hazard = 'reverted') => {
      const one = result(parts)
      const [harm] = one.trial.harms
      return { ...one, trial: { id, harms: [{ ...harm!, hazard: { ...harm!.hazard, id: hazard } }] } }
    }
    const { trials, incidents } = evidence({
      results: [
        named('c', { outcome: 'untold' }),
        named('a', { outcome: 'untold' }),
        named('b', { outcome: 'hung' }, 'hang'),
      ],
    }).exploration
    expect(trials.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(incidents.map(({ hazard, trial, count }) => [hazard, trial, count])).toEqual([
      ['reverted', 'a', 2],
      ['hang', 'b', 1],
    ])
  })

  test('has those findings that explain where money went', () => {
    const ids = ['polling-pace', 'idempotency-key-on-retry'] as const
    const findings = ids.map((id) => ({ id })) as unknown as TrialResult['findings']
    expect(evidence({ results: [{ ...result({ outcome: 'untold' }), findings }] }).exploration.incidents).toMatchObject(
      [{ findings: ['idempotency-key-on-retry'] }],
    )
  })

  test('names the place and the worst of what came of it', () => {
    const results = [result({ outcome: 'errored', name: 'alice' }), result({ outcome: 'hung', name: 'bob' })]
    expect(evidence({ results }).exploration.incidents).toEqual([
      {
        operation: 'deposit',
        hazard: 'reverted',
        outcome: 'hung',
        level: 'serious',
        trial: 'deposit#1@bob reverted',
        count: 2,
        sentences: [],
        findings: [],
        repeat: 'again',
      },
    ])
  })

  test.each(['hung', 'errored'] as const)('says nothing of one that %s: how far it came is chance', (outcome) => {
    expect(sentencesOf(result({ outcome, sentences: ['3 of 7 requests came.'] }))).toEqual([])
  })

  test.each([
    ["alice's deposit of 1.00 USDC was carried out.", "alice's deposit of 1.00 USDC was carried out."],
    ["user-4711's withdrawal of 1.00 USDC was carried out.", "an end user's withdrawal of 1.00 USDC was carried out."],
    ["user-4711's new portfolio was made.", "an end user's new portfolio was made."],
    [
      'alice: a deposit was carried out, and no answer said so',
      'alice: a deposit was carried out, and no answer said so',
    ],
    [
      'user-4711: a withdraw was carried out, and no answer said so',
      'an end user: a withdraw was carried out, and no answer said so',
    ],
    ['alice: 2.00 USDC in aave-usdc instead of 1.00', 'alice: 2.00 USDC in aave-usdc instead of 1.00'],
  ])('names lasting end users only: %s', (sentence, kept) => {
    expect(sentencesOf(result({ outcome: 'untold', sentences: [sentence] }))).toEqual([kept])
  })

  test('names an end user with a lasting name of any length', () => {
    const name = 'a'.repeat(80)
    const sentence = `${'a'.repeat(39)}…'s deposit of 1.00 USDC was carried out.`
    expect(sentencesOf(result({ outcome: 'untold', name, sentences: [sentence] }))).toEqual([sentence])
  })
})

describe('money of an incident', () => {
  const pool = { tenant: 'acme', pool_id: 'p', token_symbol: 'USDC', token_decimals: 6, before_minor: '0' }
  const wrong = (external_id: string, is_minor: string) => ({ ...pool, external_id, expected_minor: '7', is_minor })
  const moneyOf = (outcome: 'untold' | 'hung', ...money: ReturnType<typeof wrong>[]) =>
    evidence({ results: [{ ...result({ outcome }), money }] }).exploration.incidents[0]?.money

  test('is what is not where it should be; names that differ in every run are left out, and their order as well', () => {
    const [right, alice, one, other] = [wrong('alice', '7'), wrong('alice', '14'), wrong('u-9', '8'), wrong('u-1', '9')]
    const shown = [{ ...alice }, { ...one, external_id: null }, { ...other, external_id: null }]
    expect(moneyOf('untold', right, other, one, alice)).toHaveLength(3)
    expect(moneyOf('untold', right, other, one, alice)).toEqual(expect.arrayContaining(shown))
    expect(moneyOf('untold', alice, one, other)).toEqual(moneyOf('untold', other, right, one, alice))
  })

  test('is left out where all is right, and of what hung', () => {
    expect(moneyOf('untold', wrong('alice', '7'))).toBeUndefined()
    expect(moneyOf('untold')).toBeUndefined()
    expect(moneyOf('hung', wrong('alice', '14'))).toBeUndefined()
  })
})
