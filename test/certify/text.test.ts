import { expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { renderCertificateText } from '../../src/certify/render/render-text.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { sampleEvidence } from './sample-evidence.ts'

test('a line for each cause, then the numbers, and the verdict last', () => {
  const certificate = certificateOf(sampleEvidence('alice'))
  expect(renderCertificateText(certificate).split('\n')).toEqual([
    '✗ A dropped request was retried with a new Idempotency-Key: this pays twice (idempotency-key-on-retry; dropped-deposit)',
    '✗ deposit#1@alice reset-after-broadcast: paid twice; alice: 2.00 USDC in aave-usdc instead of 1.00 (deposit of 1.00: twice instead of once); also at withdraw (hangs on request)',
    '✗ dropped-deposit: 2 × deposit of alice: paid twice (critical)',
    '',
    `1 rule kept, 1 broken, ${FINDING_IDS.length - 2} not tested; ${certificate.digest}`,
    'Failed: 1 rule is broken; money went astray or the command hung in 1 of 3 runs with a fault; money went astray in 1 of 3 scenarios.',
    '',
  ])
})

test.each([
  ['1', false, ['✗ own: the command failed: code 1']],
  ['SIGKILL', true, ['✗ own: the command failed: SIGKILL']],
  ['timeout', true, ['✗ own: the command failed: not done in time']],
  ['1', true, []],
  ['0', false, []],
])('says of a command that ended with %s, where it may fail: %s', (end, may_fail, lines) => {
  const scenarios = [{ name: 'own', verdict: 'passed' as const, end, may_fail, operations: [] }]
  const { exploration } = sampleEvidence()
  const evidence = { ...sampleEvidence(), scenarios, findings: [], exploration: { ...exploration, incidents: [] } }
  const said = renderCertificateText(certificateOf(evidence)).split('\n')
  expect(said.filter((line) => line.startsWith('✗'))).toEqual(lines)
})

test('what needs review is marked so', () => {
  const operations = [
    { type: 'deposit' as const, external_id: null, outcome: 'left_open' as const, level: 'review' as const, count: 1 },
    { type: 'deposit' as const, external_id: null, outcome: 'refused' as const, level: 'note' as const, count: 1 },
  ]
  const scenarios = [{ name: 'own', verdict: 'inconclusive' as const, end: '0', may_fail: false, operations }]
  const { exploration } = sampleEvidence()
  const incidents = exploration.incidents.map((one) => ({
    ...one,
    outcome: 'errored' as const,
    level: 'inconclusive' as const,
    findings: [],
  }))
  const evidence = { ...sampleEvidence(), scenarios, findings: [], exploration: { ...exploration, incidents } }
  expect(renderCertificateText(certificateOf(evidence)).split('\n').slice(0, 3)).toEqual([
    expect.stringMatching(
      /^\? deposit#1@npm reset-after-broadcast: errored; .*; also at withdraw \(hangs on request\)$/,
    ),
    '? own: deposit: left open (review)',
    '',
  ])
})

test('--verbose shows what is right, too: rules, runs that gave up, and every scenario', () => {
  const evidence = sampleEvidence('alice')
  const { trials } = evidence.exploration
  const [survived] = trials
  const gaveUp = { ...survived!, id: 'deposit#2 unavailable', outcome: 'gave_up' as const, level: 'warning' as const }
  const certificate = certificateOf({
    ...evidence,
    exploration: { ...evidence.exploration, trials: [...trials, gaveUp] },
  })
  const [short, long] = [{}, { verbose: true }].map((terms) => renderCertificateText(certificate, terms).split('\n'))
  expect(long!.slice(-short!.length)).toEqual(short)
  const more = long!.slice(0, -short!.length)
  expect(more[0]).toMatch(/^✓ .* \(idempotency-key-after-error, dropped-deposit, expired-cursor\)$/)
  expect(more.slice(1, FINDING_IDS.length - 1).filter((line) => line.startsWith('· '))).toHaveLength(
    FINDING_IDS.length - 2,
  )
  expect(more.slice(FINDING_IDS.length - 1)).toEqual([
    expect.stringMatching(/^\S deposit#2 unavailable: gave up$/),
    '✗ dropped-deposit: failed, the command ended well',
    '? expired-cursor: inconclusive, the command ended well',
    '✓ reverted-deposit: passed, the command failed, as it may: code 1',
    '· reverted-deposit: deposit: refused, and told (note)',
  ])
})
