import { tokenBetween } from '../evidence/doubts.ts'
import { isTransfer, type Step, stepsAfter, type Timeline, timelinesOf } from '../evidence/timelines.ts'
import { plural, requestInWords, spell } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

/** Minimum timeout by the specification. */
const RULE_MS = 60_000
/** Accuracy of timers and networks, in milliseconds. */
const SLACK_MS = 500

export const clientTimeout: Finding = {
  id: 'client-timeout',
  title: 'The client waits for a transfer for at least 60 seconds',
  failureTitle: 'The client gives up a transfer before 60 seconds: its outcome is unknown whenever the chain is slow',
  rule: 'Endpoint 5, rule 1: "Clients use a timeout of at least 60 seconds." Limits: a transfer takes 5 to 30 seconds typically.',
  impact: 'serious',
  consequence:
    'On a busy day every transfer runs into the timeout. The money moves all the same, and each one must be looked up, or is paid twice.',
  situation: 'a deposit or withdrawal that takes a minute',
  exerciseWith: '--scenario slow-confirmation',
  fix: 'Set the timeout of deposit and withdraw to 60 seconds at least; 90 is a good value. HTTP clients, sockets and the proxies on your side each have a timeout of their own.',
  wrongClients: ['five-second-timeout'],
  judge,
}

interface GivenUp {
  step: Step
  /** The next request for the same end user; null for none. */
  next: Step | null
}

function judge(evidence: Evidence): Judgement {
  const waits = timelinesOf(evidence).flatMap((timeline) =>
    timeline.steps.filter(({ exchange, kept }) => isTransfer(exchange) && !kept).map((step) => ({ step, timeline })),
  )
  const early = waits.filter(({ step }) => isEarly(step)).map(givenUp)
  if (early.length > 0) return judgeEarly(early, evidence)
  const ended = waits.filter(({ step }) => step.fate !== 'unknown').map(({ step }) => step)
  const longest = ended.reduce<Step | null>(
    (one, step) => (one && one.exchange.took_ms >= step.exchange.took_ms ? one : step),
    null,
  )
  if (!longest) return notExercised('There was no deposit or withdrawal.')
  const { took_ms, end } = longest.exchange
  const facts = `The longest wait for a transfer was ${spell(took_ms)}`
  if (took_ms < RULE_MS - SLACK_MS)
    return notExercised(`${facts}; only one of ${RULE_MS / 1000} s shows that the client waits so long.`)
  const how = end === 'abandoned' ? ', and then the client left' : ''
  return passed(`${facts}${how}; the rule asks for at least ${RULE_MS / 1000} s.`, [longest.exchange])
}

function isEarly({ exchange: { end, took_ms } }: Step): boolean {
  return end === 'abandoned' && took_ms < RULE_MS - SLACK_MS
}

function givenUp({ step, timeline }: { step: Step; timeline: Timeline }): GivenUp {
  const [next = null] = stepsAfter(timeline, step)
  return { step, next }
}

function shortestOf(waits: readonly GivenUp[]): GivenUp {
  return waits.reduce((one, other) => (other.step.exchange.took_ms < one.step.exchange.took_ms ? other : one))
}

function judgeEarly(early: readonly GivenUp[], evidence: Evidence): Judgement {
  // A client that goes on for the same end user was not ended from outside. One that fetches a token first may be another run.
  const alive = early.filter(
    ({ step, next }) => next !== null && tokenBetween({ write: step, next }, evidence) === null,
  )
  const { step } = shortestOf(alive.length > 0 ? alive : early)
  const told = `The client gave up ${requestInWords(step.exchange)} after ${spell(step.exchange.took_ms)}.`
  if (alive.length === 0) return needsReview(`${told} It may have been ended from outside.`, [step.exchange])
  const often = alive.length > 1 ? ` It gave up ${plural(alive.length, 'transfer')} before ${RULE_MS / 1000} s.` : ''
  const values = { expected: `a timeout of at least ${RULE_MS / 1000} s`, came: spell(step.exchange.took_ms) }
  return failed(`${told}${often}`, values, [step.exchange])
}
