import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { idempotencyKeyFormat } from '../../../src/verdict/findings/idempotency-key-format.ts'
import { evidenceOf } from '../evidence.ts'
import { exchange } from '../exchange.ts'

const V1 = '7d444840-9dc0-11d1-b245-5ffdce74fad2'

const withKeys = (...keys: string[]) => keys.map((key) => exchange({ idempotency: { key, use: 'first' } }))
const judged = (...keys: string[]) => idempotencyKeyFormat.judge(evidenceOf(withKeys(...keys)))

test('keys that are UUIDs v4 pass, in either case and in quotes', () => {
  const key = randomUUID()
  expect(judged(key, key.toUpperCase(), `"${key}"`)).toMatchObject({ outcome: 'passed' })
})

test.each([V1, '1', 'order-17', '', randomUUID().replaceAll('-', '')])('a client with keys such as %j fails', (key) => {
  const judgement = judged(key)
  expect(judgement).toMatchObject({ outcome: 'failed', expected: 'a UUID v4', came: `"${key}"` })
  expect(judgement.request_ids).toHaveLength(1)
})

test('a few wrong keys among right ones may be a test', () => {
  expect(judged(randomUUID(), randomUUID(), 'not-a-uuid')).toMatchObject({
    outcome: 'needs_review',
    explanation: expect.stringContaining('1 of 3 Idempotency-Keys'),
  })
})

test('a wrong key counts once, however often it is repeated', () => {
  expect(judged(randomUUID(), V1, V1, V1).outcome).toBe('needs_review')
})

test('a key that was refused before it was looked at is in the headers', () => {
  const refused = exchange({ request: { headers: [['idempotency-KEY', 'order-17']] } })
  expect(idempotencyKeyFormat.judge(evidenceOf([refused])).outcome).toBe('failed')
})

test('requests without a key exercise nothing', () => {
  expect(idempotencyKeyFormat.judge(evidenceOf([exchange()])).outcome).toBe('not_exercised')
})

test('a right key is shown once, wrong ones three times', () => {
  const right = withKeys(randomUUID(), randomUUID())
  expect(idempotencyKeyFormat.judge(evidenceOf(right)).request_ids).toEqual([right[0]?.request_id])
  const [key, ...others] = withKeys('a', 'a', 'b', 'c', 'd')
  expect(idempotencyKeyFormat.judge(evidenceOf([key!, ...others])).request_ids).toEqual(
    [key, others[1], others[2]].map((one) => one?.request_id),
  )
})

test('of more wrong keys than right ones, it says how many there are in all', () => {
  expect(judged(randomUUID(), 'a', 'b').explanation).toBe('2 of 3 Idempotency-Keys were not UUIDs v4, such as "a".')
})
