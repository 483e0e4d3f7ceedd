import { expect, test } from 'vitest'
import { saidBy } from '../../src/oracle/operation.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'

const first = { key: 'a', use: 'first' as const }
const unused = { key: 'a', use: 'unused' as const }
const fault = (kind: string, phase: string) => ({ id: 'fault-1', kind, phase, explanation: '' })
const refusal = (check: 'fault' | 'body') => ({
  refusal: { check, code: 'x', aspect: null, expected: null, came: null, detail: '' },
})
const answer = (status: number, code: string | null = 'x') => ({ response: { status, code } })
const REPLACED = fault('error', 'after_broadcast')

test.each<[string, string, ExchangeParts]>([
  ['done', 'a success', answer(201, null)],
  ['refused', 'anything from 300 on', answer(300)],
  ['nothing', 'no answer', { response: null }],
  ['nothing', 'an error of the service', answer(500)],
  ['nothing', 'a key in progress', answer(409, 'idempotency_key_in_progress')],
  ['refused', "the key's own refusal", answer(422)],
  ['put_off', 'a refusal before the key was looked at', { ...answer(422), idempotency: unused }],
  ['put_off', 'a refusal of a request without a key', { ...answer(422), idempotency: null }],
  ['put_off', 'a request too many, whoever looked at its key', answer(429)],
  ['false', 'a refusal in the place of an outcome', { ...answer(422), faults: [REPLACED], ...refusal('fault') }],
  [
    'false',
    'the same, beside another fault',
    { ...answer(422), faults: [fault('latency', 'on_request'), REPLACED], ...refusal('fault') },
  ],
  ['refused', "the service's own refusal beside such a fault", { ...answer(422), faults: [REPLACED] }],
  ['refused', 'a refusal by a check beside such a fault', { ...answer(422), faults: [REPLACED], ...refusal('body') }],
  [
    'put_off',
    'a refusal by a fault before anything was done',
    {
      ...answer(422),
      idempotency: unused,
      faults: [fault('error', 'on_request'), fault('latency', 'after_broadcast')],
      ...refusal('fault'),
    },
  ],
])('%s: %s', (said, _, parts) => {
  expect(saidBy(exchange({ idempotency: first, ...parts }))).toBe(said)
})
