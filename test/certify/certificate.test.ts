import { expect, test } from 'vitest'
import { certificateOf, exitCodeOf, summaryOf } from '../../src/certify/certificate.ts'
import { compareCertificates } from '../../src/certify/compare-certificates.ts'
import type { Evidence } from '../../src/certify/evidence.ts'
import { sampleEvidence } from './sample-evidence.ts'

/** Of a client without a mistake. */
function rightEvidence(): Evidence {
  const { findings, exploration, ...rest } = sampleEvidence()
  return {
    ...rest,
    findings: findings.map((finding) =>
      finding.outcome === 'contradicted' ? { ...finding, outcome: 'proved' } : finding,
    ),
    exploration: {
      repeatable: true,
      trials: exploration.trials.map((trial) => ({ ...trial, outcome: 'survived' })),
      bad_cells: [],
    },
  }
}

test('the digest does not depend on the order of members, and on every value', () => {
  const evidence = sampleEvidence()
  const { digest } = certificateOf(evidence)
  expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
  const turned = Object.fromEntries(Object.entries(evidence).reverse()) as Evidence
  expect(certificateOf(turned).digest).toBe(digest)
  expect(certificateOf({ ...evidence, subject: 'another' }).digest).not.toBe(digest)
  expect(certificateOf({ ...evidence, seed: 2 }).digest).not.toBe(digest)
})

test('fails for a contradicted finding, for money that went astray, and for a command that failed in a scenario', () => {
  const right = rightEvidence()
  expect(summaryOf(right)).toMatchObject({ verdict: 'passed', proved: 2, contradicted: 0, unproved: 27, bad_runs: 0 })
  expect(exitCodeOf(right)).toBe(0)
  const { findings, exploration } = sampleEvidence()
  const scenarios = [{ name: 'dropped-deposit', verdict: 'passed' as const, end: '1' }]
  for (const wrong of [{ findings }, { exploration }, { scenarios }]) {
    expect(summaryOf({ ...right, ...wrong }).summary).toMatch(/^Failed: /)
    expect(exitCodeOf({ ...right, ...wrong })).toBe(3)
  }
})

test('is inconclusive when nothing was exercised', () => {
  const nothing: Evidence = {
    ...rightEvidence(),
    findings: [],
    exploration: { repeatable: true, trials: [], bad_cells: [] },
  }
  expect(summaryOf(nothing).verdict).toBe('inconclusive')
  expect(exitCodeOf(nothing)).toBe(4)
})

test('two certificates are compared by what came of them', () => {
  const right = certificateOf(rightEvidence())
  expect(compareCertificates(right, right)).toEqual({ sameResults: true, sentences: ['the same digest'] })
  const later = certificateOf({ ...rightEvidence(), subject: 'later' })
  expect(compareCertificates(right, later)).toEqual({
    sameResults: true,
    sentences: ['the same results, but another digest', 'subject: npm in the first, later in the second'],
  })
  const { sameResults, sentences } = compareCertificates(right, certificateOf(sampleEvidence()))
  expect(sameResults).toBe(false)
  expect(sentences.slice(0, 3)).toEqual([
    'not the same results',
    'finding idempotency-key-on-retry: proved by dropped-deposit in the first, contradicted by dropped-deposit in the second',
    'run deposit#1@npm reset-after-broadcast: survived in the first, silently_wrong in the second',
  ])
})
