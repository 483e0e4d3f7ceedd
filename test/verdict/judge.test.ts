import { expect, test } from 'vitest'
import { judge } from '../../src/verdict/build-report.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'
import { evidenceOf } from './evidence.ts'

test('a judge that throws is errored and says why', () => {
  const [finding] = FINDINGS
  const broken = {
    ...finding!,
    judge() {
      throw new TypeError('no such thing')
    },
  }
  expect(judge(broken, evidenceOf([]))).toMatchObject({
    outcome: 'errored',
    explanation: expect.stringContaining('no such thing'),
    request_ids: [],
  })
})

test('findings stand in the order of their ids', () => {
  const ids = FINDINGS.map(({ id }) => id)
  expect(ids).toEqual(FINDING_IDS.filter((id) => ids.includes(id)))
})

test.each(FINDINGS)('without traffic, $id is not exercised', (finding) => {
  expect(judge(finding, evidenceOf([])).outcome).toBe('not_exercised')
})
