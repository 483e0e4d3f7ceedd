import { KEY_FORMS } from '../../domain/idempotency-key.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { idempotencyKeyOf } from '../evidence/requests.ts'
import { plural, quote } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

/** Number of wrong keys that are shown. */
const SHOWN = 3

export const idempotencyKeyFormat: Finding = {
  id: 'idempotency-key-format',
  title: 'Idempotency-Keys are UUIDs of version 4',
  failureTitle: 'Idempotency-Keys are not UUIDs of version 4: a service that checks the form refuses every transfer',
  rule: 'Idempotency-Key: "A UUID v4 header required on create portfolio, deposit and withdraw."',
  impact: 'serious',
  consequence:
    'A service that checks the form refuses every transfer. Keys that are counted or made from the time come twice, and then the second transfer gets the answer of the first and never happens.',
  situation: 'a request with an Idempotency-Key',
  exerciseWith: '',
  fix: 'Make each key with a function for random UUIDs: crypto.randomUUID() in JavaScript, uuid.uuid4() in Python, uuidgen -r in a shell.',
  wrongClients: ['key-from-a-counter', 'key-of-uuid-v1'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const { right, wrong } = keysByForm(exchanges)
  const [firstWrong] = wrong.keys()
  if (firstWrong === undefined) {
    if (right.size === 0) return notExercised('No request came with an Idempotency-Key.')
    return passed(`Every Idempotency-Key was a UUID v4: ${plural(right.size, 'key')}.`, [...right.values()].slice(0, 1))
  }
  const shown = [...wrong.values()].slice(0, SHOWN)
  if (wrong.size > right.size) {
    const explanation = `${wrong.size} of ${plural(wrong.size + right.size, 'Idempotency-Key')} were not UUIDs v4, such as ${quote(firstWrong)}.`
    return failed(explanation, { expected: 'a UUID v4', came: quote(firstWrong) }, shown)
  }
  const reason = `${wrong.size} of ${plural(wrong.size + right.size, 'Idempotency-Key')} were not UUIDs v4, such as ${quote(firstWrong)}. It may be a test of what the service refuses.`
  return needsReview(reason, shown)
}

/** Each key with the first exchange that came with it. */
function keysByForm(exchanges: readonly RecordedExchange[]) {
  const right = new Map<string, RecordedExchange>()
  const wrong = new Map<string, RecordedExchange>()
  for (const exchange of exchanges) {
    const key = idempotencyKeyOf(exchange)
    if (key === null) continue
    const keys = KEY_FORMS.uuid_v4.pattern.test(key) ? right : wrong
    if (!keys.has(key)) keys.set(key, exchange)
  }
  return { right, wrong }
}
