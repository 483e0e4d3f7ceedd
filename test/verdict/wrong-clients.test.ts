import { describe, expect, test } from 'vitest'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'
import { mistakes, wrongSource } from './clients/wrong-clients.ts'

describe('wrong clients', () => {
  test.each(mistakes)('$id has its one mistake in the reference client', ({ id, finding }) => {
    expect(FINDING_IDS).toContain(finding)
    expect(() => wrongSource(id)).not.toThrow()
  })

  test.each(FINDINGS.map((finding) => [finding.id, finding]))('%s names its wrong clients', (id, { wrongClients }) => {
    expect([...wrongClients].sort()).toEqual(
      mistakes.flatMap((mistake) => (mistake.finding === id ? [mistake.id] : [])).sort(),
    )
  })

  test('there is one at least for each finding that can fail: these ask for review only', () => {
    const covered = new Set(mistakes.map(({ finding }) => finding))
    expect(FINDING_IDS.filter((id) => !covered.has(id))).toEqual([
      'amount-scale',
      'pagination-completion',
      'deprecation-notice',
    ])
    expect(new Set(mistakes.map(({ id }) => id)).size).toBe(mistakes.length)
  })
})
