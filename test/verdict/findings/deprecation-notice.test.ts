import { expect, test } from 'vitest'
import { deprecationNotice } from '../../../src/verdict/findings/deprecation-notice.ts'
import { evidenceOf } from '../evidence.ts'
import { exchange } from '../exchange.ts'
import { struck } from '../token-traffic.ts'

test('without an announcement there is nothing to judge', () => {
  expect(deprecationNotice.judge(evidenceOf([exchange(), exchange(struck('error'))])).outcome).toBe('not_exercised')
})

test('an announcement needs review, and says what was announced', () => {
  const headers: [string, string][] = [
    ['deprecation', '@1800000000'],
    ['sunset', 'Mon, 31 Jan 2028 00:00:00 GMT'],
  ]
  const announced = [1, 2].map(() => exchange({ ...struck('deprecation'), response: { headers } }))
  expect(deprecationNotice.judge(evidenceOf(announced))).toMatchObject({
    outcome: 'needs_review',
    explanation: expect.stringContaining(
      '2 answers announced the end of this version (deprecation: @1800000000; sunset: Mon',
    ),
    request_ids: [announced[0]!.request_id],
  })
})

test('an announcement that never arrived is none', () => {
  expect(deprecationNotice.judge(evidenceOf([exchange({ ...struck('deprecation'), end: 'dropped' })])).outcome).toBe(
    'not_exercised',
  )
})

test('an announcement without headers says nothing of them', () => {
  const announced = exchange({ ...struck('deprecation'), response: null })
  expect(deprecationNotice.judge(evidenceOf([announced])).explanation).toContain('(). Traffic does not show')
})
