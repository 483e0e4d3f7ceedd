import { describe, expect, test } from 'vitest'
import { certificateExitCode, certificateOf, certificateSummary } from '../../src/certify/certificate.ts'
import { compareCertificates } from '../../src/certify/certificate-file.ts'
import type { CertificateEvidence, ScenarioEvidence } from '../../src/certify/evidence.ts'
import { sampleEvidence } from './sample-evidence.ts'

/** Of a client without a mistake. */
function rightEvidence(): CertificateEvidence {
  const { findings, exploration, ...rest } = sampleEvidence()
  return {
    ...rest,
    scenarios: [scenario({}), scenario({ name: 'reverted-deposit', end: '1', may_fail: true })],
    findings: findings.map((finding) =>
      finding.outcome === 'contradicted' ? { ...finding, outcome: 'proved', contradicted_in: [] } : finding,
    ),
    exploration: {
      repeatable: true,
      trials: exploration.trials.map((trial) => ({ ...trial, outcome: 'survived', level: 'ok' })),
      incidents: [],
    },
  }
}

function scenario(parts: Partial<ScenarioEvidence>): ScenarioEvidence {
  return { name: 'dropped-deposit', verdict: 'passed', end: '0', may_fail: false, operations: [], ...parts }
}

function operation(outcome: 'untold' | 'refused', level: 'critical' | 'note'): ScenarioEvidence['operations'][number] {
  return { type: 'deposit', external_id: 'alice', outcome, level, count: 1 }
}

const LEVELS = { survived: 'ok', not_exercised: 'none', errored: 'inconclusive', left_open: 'review' } as const

/** The right client's, but for what became of its runs with a fault. */
function withTrials(...outcomes: (keyof typeof LEVELS)[]): CertificateEvidence {
  const right = rightEvidence()
  const trials = outcomes.map((outcome, i) => {
    return {
      id: `deposit#${i} reverted`,
      operation: 'deposit' as const,
      hazard: 'reverted',
      outcome,
      level: LEVELS[outcome],
    }
  })
  return { ...right, exploration: { repeatable: true, trials, incidents: [] } }
}

test('the digest does not depend on the order of members, and on every value', () => {
  const evidence = sampleEvidence()
  const { digest } = certificateOf(evidence)
  expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
  const turned = Object.fromEntries(Object.entries(evidence).reverse()) as CertificateEvidence
  expect(certificateOf(turned).digest).toBe(digest)
  expect(certificateOf({ ...evidence, subject: 'another' }).digest).not.toBe(digest)
  expect(certificateOf({ ...evidence, seed: 2 }).digest).not.toBe(digest)
})

test('passes a right client, also where it lets its command fail as it may', () => {
  const right = rightEvidence()
  expect(certificateSummary(right)).toMatchObject({ verdict: 'passed', proved: 2, contradicted: 0, bad_runs: 0 })
  expect(certificateSummary(right).summary).toMatch(
    /^Passed: 2 rules kept, none broken, \d+ not tested in 2 scenarios; no money went astray in 3 runs with a fault\.$/,
  )
  expect(certificateExitCode(right)).toBe(0)
  const told = { ...right, scenarios: [scenario({ operations: [operation('refused', 'note')] })] }
  expect(certificateExitCode(told)).toBe(0)
  expect(certificateExitCode({ ...right, scenarios: [scenario({ end: '127', may_fail: true })] })).toBe(0)
})

describe('fails', () => {
  const { findings, exploration } = sampleEvidence()
  test.each<[string, Partial<CertificateEvidence>, RegExp]>([
    ['a rule that is broken', { findings }, /^Failed: 1 rule is broken\.$/],
    ['money that went astray', { exploration }, /^Failed: money went astray .* in 1 of 3 runs with a fault\.$/],
    [
      'an operation in a scenario',
      { scenarios: [scenario({ verdict: 'failed', operations: [operation('untold', 'critical')] }), scenario({})] },
      /^Failed: money went astray in 1 of 2 scenarios\.$/,
    ],
    [
      'a scenario that failed for whatever reason',
      { scenarios: [scenario({ verdict: 'failed' })] },
      /^Failed: the verdict is failed in 1 of 1 scenario\.$/,
    ],
    ['two rules that are broken', { findings: [findings[0]!, findings[0]!] }, /^Failed: 2 rules are broken\.$/],
    ...['1', '2', '127', 'SIGKILL', 'timeout'].map((end): [string, Partial<CertificateEvidence>, RegExp] => [
      `a command that ended with ${end}`,
      { scenarios: [scenario({}), scenario({ end })] },
      /^Failed: the command failed in 1 of 2 scenarios\.$/,
    ]),
    ...['SIGKILL', 'timeout', 'SIG1', '1st'].map((end): [string, Partial<CertificateEvidence>, RegExp] => [
      `a command that may fail and ended with ${end}`,
      { scenarios: [scenario({ end, may_fail: true })] },
      /^Failed: the command failed in 1 of 1 scenario\.$/,
    ]),
  ])('%s', (_, wrong, summary) => {
    const evidence = { ...rightEvidence(), ...wrong }
    expect(certificateSummary(evidence)).toMatchObject({ verdict: 'failed', summary: expect.stringMatching(summary) })
    expect(certificateExitCode(evidence)).toBe(3)
    expect(certificateExitCode(evidence, { allowInconclusive: true })).toBe(3)
  })

  test('with all reasons', () => {
    const wrong = { ...sampleEvidence(), scenarios: [...sampleEvidence().scenarios, scenario({ end: '7' })] }
    expect(certificateSummary(wrong).summary).toBe(
      'Failed: 1 rule is broken; money went astray or the command hung in 1 of 3 runs with a fault; money went astray in 1 of 4 scenarios; the command failed in 1 of 4 scenarios.',
    )
  })
})

describe('is inconclusive', () => {
  test('when a scenario came to no verdict, unless that is allowed', () => {
    const open = { ...rightEvidence(), scenarios: [scenario({}), scenario({ name: 'open', verdict: 'inconclusive' })] }
    expect(certificateSummary(open)).toMatchObject({
      verdict: 'inconclusive',
      summary: expect.stringMatching(/^Inconclusive: 1 of 2 scenarios came to no verdict \(open\); 2 rules kept, none/),
    })
    expect([certificateExitCode(open), certificateExitCode(open, { allowInconclusive: true })]).toEqual([4, 0])
  })

  test('when all scenarios came to no verdict', () => {
    const open = { ...rightEvidence(), scenarios: [scenario({ verdict: 'inconclusive' })] }
    expect(certificateExitCode(open)).toBe(4)
  })

  test('when the sandbox itself failed in a run', () => {
    const open = withTrials('survived', 'errored')
    expect(certificateSummary(open).summary).toMatch(
      /^Inconclusive: 1 of 2 runs with a fault needs review; 2 rules kept/,
    )
    expect([certificateExitCode(open), certificateExitCode(open, { allowInconclusive: true })]).toEqual([4, 0])
  })

  test('when runs with a fault need review', () => {
    expect(certificateSummary(withTrials('survived', 'left_open', 'left_open')).summary).toMatch(
      /^Inconclusive: 2 of 3 runs with a fault need review; 2 rules kept/,
    )
  })

  test('when nothing was exercised, whatever is allowed', () => {
    for (const outcomes of [[], ['not_exercised'], ['errored']] as const) {
      const nothing: CertificateEvidence = { ...withTrials(...outcomes), findings: [] }
      expect(certificateSummary(nothing).summary).toBe('Inconclusive: nothing was exercised.')
      expect([certificateExitCode(nothing), certificateExitCode(nothing, { allowInconclusive: true })]).toEqual([4, 4])
    }
  })

  test('when no rule was kept and no fault struck', () => {
    const findings = rightEvidence().findings.filter(({ outcome }) => outcome === 'unproved')
    expect(certificateSummary({ ...withTrials('not_exercised'), findings }).summary).toBe(
      'Inconclusive: nothing was exercised.',
    )
  })

  test('and not when a fault struck, or a rule was kept', () => {
    expect(certificateSummary({ ...withTrials('survived'), findings: [] }).verdict).toBe('passed')
    expect(certificateSummary(withTrials('not_exercised')).verdict).toBe('passed')
  })
})

describe('two certificates are compared by what came of them', () => {
  const right = certificateOf(rightEvidence())
  const differing = (parts: Partial<CertificateEvidence>) =>
    compareCertificates(right, certificateOf({ ...rightEvidence(), ...parts }))

  test('the same, and another subject', () => {
    expect(compareCertificates(right, right)).toEqual({ sameResults: true, sentences: ['the same digest'] })
    expect(differing({ subject: 'later' })).toEqual({
      sameResults: true,
      sentences: ['the same results, but another digest', 'subject: npm in the first, later in the second'],
    })
  })

  test('the first differences in words', () => {
    const { sameResults, sentences } = compareCertificates(right, certificateOf(sampleEvidence()))
    expect(sameResults).toBe(false)
    expect(sentences.slice(0, 2)).toEqual([
      'not the same results',
      'finding idempotency-key-on-retry: proved; proved by expired-cursor; to be looked at in reverted-deposit in the first, contradicted; contradicted by dropped-deposit; proved by expired-cursor; to be looked at in reverted-deposit in the second',
    ])
  })

  test('five of them, and how many more', () => {
    const sentencesOf = (...outcomes: Parameters<typeof withTrials>) => {
      const first = certificateOf(withTrials())
      return compareCertificates(first, certificateOf(withTrials(...outcomes))).sentences
    }
    const six = Array.from({ length: 6 }, () => 'survived' as const)
    expect(sentencesOf(...six)).toEqual([
      'not the same results',
      ...[0, 1, 2, 3, 4].map((i) => `run deposit#${i} reverted: not there in the first, survived in the second`),
      'and 1 more',
    ])
    expect(sentencesOf(...six.slice(1))).toHaveLength(6)
  })

  test('flags and fixtures, which are no results', () => {
    expect(differing({ flags: [], fixtures: 'f.yaml' })).toEqual({
      sameResults: true,
      sentences: [
        'the same results, but another digest',
        'flags: --before npm in the first, none in the second',
        "fixtures: the sandbox's own in the first, f.yaml in the second",
      ],
    })
    const other = certificateOf({ ...rightEvidence(), fixtures: 'g.yaml' })
    expect(compareCertificates(certificateOf({ ...rightEvidence(), fixtures: 'f.yaml' }), other).sentences[1]).toBe(
      'fixtures: f.yaml in the first, g.yaml in the second',
    )
  })

  test('what happened where something went wrong, but not how to do it again', () => {
    const { exploration } = sampleEvidence()
    const [one] = exploration.incidents
    const having = (parts: Partial<typeof one>) =>
      certificateOf({ ...rightEvidence(), exploration: { ...exploration, incidents: [{ ...one!, ...parts }] } })
    expect(compareCertificates(having({}), having({ repeat: 'otherwise' })).sameResults).toBe(true)
    expect(compareCertificates(having({}), having({ sentences: ['Another.'], findings: [] })).sentences).toEqual([
      'not the same results',
      `what happened at deposit reset-after-broadcast: ${one?.sentences[0]}; ["idempotency-key-on-retry"] in the first, Another.; [] in the second`,
    ])
  })

  test('whether the runs without faults were the same', () => {
    expect(differing({ exploration: { ...rightEvidence().exploration, repeatable: false } })).toEqual({
      sameResults: false,
      sentences: ['not the same results', 'repeatable: true in the first, false in the second'],
    })
  })

  test('what became of the operations of a scenario', () => {
    const [first, second] = rightEvidence().scenarios
    const scenarios = [{ ...first!, operations: [operation('refused', 'note')] }, second!]
    expect(differing({ scenarios }).sentences).toEqual([
      'not the same results',
      'scenario dropped-deposit: passed, end 0 in the first, passed, end 0, deposit of alice: refused, and told (note) in the second',
    ])
  })
})
