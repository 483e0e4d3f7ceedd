import { expect, test } from 'vitest'
import { AUDIT_CHECKS, type AuditCheckId, AuditSummary } from '../../src/domain/audit-report.ts'

const detailOf = (summary: AuditSummary, id: AuditCheckId) =>
  summary.report().checks.find((check) => check.id === id)?.detail

test('a report has every check in its order, also those that compared nothing', () => {
  const { ok, checks } = new AuditSummary().report()
  expect(ok).toBe(true)
  expect(checks).toEqual(Object.entries(AUDIT_CHECKS).map(([id, what]) => ({ id, ok: true, detail: `0 ${what}` })))
})

test('what was compared adds up, end user by end user', () => {
  const summary = new AuditSummary()
  for (const compared of [2, 0, 3]) summary.add('shares', { compared, offences: [] })
  summary.add('hashes', { compared: 7, offences: [] })
  expect(detailOf(summary, 'shares')).toBe(`5 ${AUDIT_CHECKS.shares}`)
  expect(detailOf(summary, 'hashes')).toBe(`7 ${AUDIT_CHECKS.hashes}`)
})

test.each<[string[][], string]>([
  [[['a']], '1 wrong: a'],
  [[['a'], [], ['b', 'c']], '3 wrong: a; b; c'],
  [
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
    '4 wrong: a; b; c; and 1 more',
  ],
  [[['a', 'b', 'c', 'd'], ['e']], '5 wrong: a; b; c; and 2 more'],
])('of the offences %j it names the first three', (found, said) => {
  const summary = new AuditSummary()
  for (const offences of found) summary.add('wallets', { compared: 2, offences })
  const { ok, checks } = summary.report()
  expect(ok).toBe(false)
  expect(checks.filter((check) => !check.ok).map(({ id }) => id)).toEqual(['wallets'])
  expect(detailOf(summary, 'wallets')).toBe(`${2 * found.length} ${AUDIT_CHECKS.wallets}; ${said}`)
})

test('whom it knows nothing of is named with the transfers, and nothing is wrong about that', () => {
  const summary = new AuditSummary()
  for (const name of ['a', 'b', 'c', 'd']) summary.leaveOut(name)
  const said = `0 ${AUDIT_CHECKS.transfers}; 4 not compared with the chain: a; b; c; and 1 more`
  expect([summary.report().ok, detailOf(summary, 'transfers')]).toEqual([true, said])
  expect(detailOf(summary, 'shares')).toBe(`0 ${AUDIT_CHECKS.shares}`)
  summary.add('transfers', { compared: 1, offences: ['x'] })
  expect(detailOf(summary, 'transfers')).toBe(
    `1 ${AUDIT_CHECKS.transfers}; 1 wrong: x; 4 not compared with the chain: a; b; c; and 1 more`,
  )
})
