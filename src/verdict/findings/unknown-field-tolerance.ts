import { shorten } from '../../support/foreign-text.ts'
import { grouped } from '../../support/maps.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { beganAt, endedAt, struckBy, succeeded } from '../evidence/answers.ts'
import { idempotencyKeyOf } from '../evidence/requests.ts'
import { requestSignature } from '../evidence/tokens.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const unknownFieldTolerance: Finding = {
  id: 'unknown-field-tolerance',
  title: 'Answers with fields of a later version are accepted',
  failureTitle: 'An answer with a new field is taken for a failure: transfers that happened are sent again',
  rule: 'Versioning, rules 3 and 7: "Changes allowed within v1 without notice: new optional response fields …" "Clients must tolerate unknown response fields."',
  impact: 'serious',
  consequence:
    'The day the service adds a field, every deposit looks like a failure; with fresh keys on top of it, your users pay several times.',
  situation: 'an answer with fields that the present version does not have',
  exerciseWith: '--scenario unknown-fields',
  fix: 'Read the fields you need and ignore the others: no strict schemas, no additionalProperties: false, no FAIL_ON_UNKNOWN_PROPERTIES.',
  wrongClients: ['strict-answers'],
  judge,
}

/** A write that was answered with success and new fields, and its repetitions under the same key. */
interface StrangeWrite {
  first: RecordedExchange
  again: RecordedExchange[]
}

function judge({ exchanges, ended, end }: Evidence): Judgement {
  const strange = exchanges.filter((one) => struckBy(one, 'unknown_fields') && succeeded(one))
  const [first] = strange
  if (!first) return notExercised('No answer with success had fields of a later version.')

  const writes = strangeWrites(exchanges)
  const sequel = sequelOf(strange, exchanges)
  // A suite may repeat a write on purpose, to check the kept answer: then the others are not repeated, and it ends well.
  const onPurpose = sequel !== undefined && end === 'well' && writes.filter(isRepeated).length === 1
  const repeated = [...grouped(writes, ({ first: { operation } }) => operation ?? undefined).values()]
    .filter((ofOne) => ofOne.every(isRepeated) && !(onPurpose && writes.length > 1))
    .sort((a, b) => b.length - a.length)
  const [worst] = repeated
  if (worst) return judgeRepeated(worst, ended)
  if (sequel) {
    const explanation = `${plural(strange.length, 'answer')} had fields of a later version, and the client went on.`
    return passed(explanation, [sequel.after, sequel.next])
  }
  const reason = ended
    ? 'Nothing new followed an answer with fields of a later version: the client was through with its work, or gave up at it.'
    : 'Nothing new has followed an answer with fields of a later version so far.'
  return needsReview(reason, [strange.at(-1) ?? first])
}

function isRepeated({ again }: StrangeWrite): boolean {
  return again.length > 0
}

/** Judges the case that every write of one operation came again after an answer with new fields. */
function judgeRepeated(writes: readonly StrangeWrite[], ended: boolean): Judgement {
  const { first, again } = writes.reduce((one, other) => (other.again.length > one.again.length ? other : one))
  const whose = first.external_id === null ? '' : ` of ${shorten(first.external_id, 40)}`
  const facts = `${first.operation}${whose} was answered with success and new fields, and sent again ${plural(again.length, 'time')} under the same key.`
  const shown = [first, ...again.slice(0, 2)]
  if (writes.length === 1 || !ended) {
    return needsReview(
      `${facts} That may be a test of the key, or a client that takes the answer for a failure.`,
      shown,
    )
  }
  const came = 'the same request again, as after a failure'
  const all = `So was every ${first.operation}: ${writes.length} of ${writes.length}.`
  return failed(`${facts} ${all}`, { expected: 'the answer taken as it is', came }, shown)
}

function strangeWrites(exchanges: readonly RecordedExchange[]): StrangeWrite[] {
  const writes = new Map<string, StrangeWrite>()
  for (const exchange of exchanges) {
    const key = idempotencyKeyOf(exchange)
    if (key === null) continue
    const id = `${requestSignature(exchange)} ${key}`
    const write = writes.get(id)
    if (write) {
      if (beganAt(exchange) >= endedAt(write.first)) write.again.push(exchange)
    } else if (succeeded(exchange) && struckBy(exchange, 'unknown_fields')) {
      writes.set(id, { first: exchange, again: [] })
    }
  }
  return [...writes.values()]
}

/** The first new thing that a client did after such an answer: another request of the same end user or process. */
function sequelOf(
  strange: readonly RecordedExchange[],
  exchanges: readonly RecordedExchange[],
): { after: RecordedExchange; next: RecordedExchange } | undefined {
  /** The first such answer by connection and by end user. */
  const answered = new Map<string, RecordedExchange>()
  const struck = new Set(strange)
  const seen = new Set<string>()
  for (const exchange of exchanges) {
    const what = `${requestSignature(exchange)} ${exchange.request.body}`
    const after = processes(exchange).flatMap((process) => answered.get(process) ?? [])[0]
    if (after && !seen.has(what) && exchange.operation !== 'token' && beganAt(exchange) >= endedAt(after)) {
      return { after, next: exchange }
    }
    seen.add(what)
    if (!struck.has(exchange)) continue
    for (const process of processes(exchange)) if (!answered.has(process)) answered.set(process, exchange)
  }
  return undefined
}

function processes({ connection, tenant, external_id }: RecordedExchange): string[] {
  return [`connection ${connection}`, ...(external_id === null ? [] : [JSON.stringify([tenant, external_id])])]
}
