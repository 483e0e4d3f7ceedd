import { LEVELS, type OperationOutcome, OUTCOMES, type OutcomeId } from '../oracle/outcome.ts'
import { shorten } from '../support/foreign-text.ts'
import type { Tone } from './contract.ts'
import { endInWords } from './marks.ts'
import { amountOf, type OperationFacts } from './operation-facts.ts'

/** What became of an operation, for its row. */
export interface OutcomeInWords {
  outcome: string
  tone: Tone
  sentence: string
}

/** Outcomes of the oracle that say more than the requests do; the others follow from the requests, or are notes beside. */
const TELLING: readonly OutcomeId[] = [
  'paid_twice',
  'paid_twice_put_right',
  'made_twice',
  'took_out_unpaid',
  'untold',
  'contradiction',
  'key_expired',
  'lucky',
  'left_open',
  'perhaps_told',
  'gave_up',
  'gave_up_looked',
  'found',
]

/** Says what became of an operation: by the oracle's outcomes where they are known, otherwise by its requests alone. */
export function outcomeInWords(facts: OperationFacts, outcomes: readonly OperationOutcome[]): OutcomeInWords {
  if (facts.attempts.some(({ exchange }) => exchange.end === 'open')) return waiting(facts)
  if (!movesMoney(facts.operation)) return plainOutcome(facts)
  const [gravest] = outcomes
    .filter(({ outcome }) => TELLING.includes(outcome))
    .sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
  return gravest ? judgedOutcome(facts, gravest) : ownOutcome(facts)
}

/** @returns true for a deposit, a withdrawal and a portfolio */
export function movesMoney(operation: string | null): boolean {
  return operation === 'deposit' || operation === 'withdraw' || operation === 'create_portfolio'
}

function waiting(facts: OperationFacts): OutcomeInWords {
  return { outcome: 'Waiting', tone: 'plain', sentence: `${subjectOf(facts)} is not answered yet.` }
}

/** Outcome of what moves no money: that of its only request. */
function plainOutcome({ attempts }: OperationFacts): OutcomeInWords {
  const last = attempts.at(-1)?.exchange
  if (!last) return { outcome: 'Done', tone: 'plain', sentence: '' }
  const { kind, tone, title, detail } = endInWords(last)
  const sentence = `${title}${detail === null ? '' : `: ${detail}`}.`
  if (kind === 'lost') return { outcome: title, tone, sentence }
  if (kind !== 'refused') return { outcome: 'Done', tone: 'plain', sentence }
  return { outcome: (last.response?.status ?? 0) >= 500 ? 'Failed' : 'Refused', tone, sentence }
}

const VERBS = { deposit: 'paid', withdraw: 'took out', create_portfolio: 'made' } as const
type MoneyOperation = keyof typeof VERBS

function typeOf({ operation }: OperationFacts): MoneyOperation {
  return operation === 'withdraw' || operation === 'create_portfolio' ? operation : 'deposit'
}

function whoOf({ external_id }: OperationFacts): string {
  return external_id === null ? 'Somebody' : shorten(external_id, 40)
}

/** "250.00 USDC", "a portfolio" */
export function whatOf(facts: OperationFacts): string {
  if (facts.operation === 'create_portfolio') return 'a portfolio'
  return facts.amount_minor === null ? 'an amount' : amountOf(facts, facts.amount_minor)
}

const NOUN: Record<MoneyOperation, string> = {
  deposit: 'deposit',
  withdraw: 'withdrawal',
  create_portfolio: 'new portfolio',
}

/** "alice's deposit of 250.00 USDC" */
function subjectOf(facts: OperationFacts): string {
  if (!movesMoney(facts.operation)) return 'The request'
  const noun = NOUN[typeOf(facts)]
  const whose = facts.external_id === null ? `A ${noun}` : `${whoOf(facts)}'s ${noun}`
  return facts.operation === 'create_portfolio' ? whose : `${whose} of ${whatOf(facts)}`
}

/** "bob paid 250.00 USDC" */
function deedOf(facts: OperationFacts): string {
  return `${whoOf(facts)} ${VERBS[typeOf(facts)]} ${whatOf(facts)}`
}

const TWICE: Record<MoneyOperation, string> = {
  deposit: 'Paid twice',
  withdraw: 'Taken out twice',
  create_portfolio: 'Made twice',
}

const TONES: Partial<Record<OperationOutcome['level'], Tone>> = {
  critical: 'bad',
  serious: 'bad',
  inconclusive: 'warn',
  review: 'warn',
  warning: 'warn',
}

/** Outcome that the oracle has found. */
function judgedOutcome(facts: OperationFacts, { outcome, level, sentence }: OperationOutcome): OutcomeInWords {
  const tone = TONES[level] ?? 'plain'
  const again = 'the answer was lost, and the client tried again under a new key'
  const said = (words: string, own = sentence): OutcomeInWords => ({ outcome: words, tone, sentence: own })
  const carried = facts.times > 0 ? 'was carried out' : 'was not carried out'
  switch (outcome) {
    case 'paid_twice':
    case 'made_twice':
      return said(TWICE[typeOf(facts)], `${deedOf(facts)} twice: ${again}.`)
    case 'paid_twice_put_right':
      return said(`${TWICE[typeOf(facts)]}, put right`, `${deedOf(facts)} twice: ${again}; one of them was taken back.`)
    case 'lucky':
      return said(
        'Nearly twice',
        `${deedOf(facts)} once, by luck: ${again}. Whenever the first attempt is carried out, that pays twice.`,
      )
    case 'key_expired':
      return said(facts.times > 1 ? 'Done again' : 'Key expired')
    case 'contradiction':
      return said('Sandbox contradicts itself')
    case 'found':
      return { outcome: 'Found in list', tone: 'ok', sentence }
    case 'untold':
    case 'left_open':
    case 'perhaps_told':
      return said(
        outcome === 'perhaps_told' ? 'Perhaps told' : 'Never told',
        outcome === 'perhaps_told' ? sentence : `${subjectOf(facts)} ${carried}, and no answer reached the client.`,
      )
    default:
      return said(`${OUTCOMES[outcome].title.slice(0, 1).toUpperCase()}${OUTCOMES[outcome].title.slice(1)}`)
  }
}

/** Outcome by the requests alone. */
function ownOutcome(facts: OperationFacts): OutcomeInWords {
  const said = new Set(facts.attempts.map((attempt) => attempt.said))
  if (said.has('done')) return done(facts)
  if (said.has('refused')) return refused(facts)
  if (said.has('false')) {
    const sentence = `A fault told the client that ${lower(subjectOf(facts))} was refused, though it was carried out.`
    return { outcome: 'Told wrongly', tone: 'warn', sentence }
  }
  if (said.has('nothing')) return unknown(facts)
  return putOff(facts)
}

const ONCE: Record<MoneyOperation, string> = {
  deposit: 'paid once',
  withdraw: 'taken once',
  create_portfolio: 'made once',
}

function done(facts: OperationFacts): OutcomeInWords {
  const { attempts } = facts
  const at = attempts.findIndex(({ said }) => said === 'done')
  const answered = attempts[at]
  const before = attempts.slice(0, at)
  if (before.length === 0 || !answered) return { outcome: 'Done', tone: 'plain', sentence: doneAtOnce(facts) }
  if (before.every(({ said }) => said !== 'nothing')) {
    const sentence = `${deedOf(facts)} once: the refused request was repeated.`
    return { outcome: `Done, attempt ${at + 1}`, tone: 'ok', sentence }
  }
  const first = answered.exchange.idempotency?.use === 'first'
  const how = first
    ? 'the first attempt moved nothing, and the retry under the same key carried it out'
    : 'the client kept its key, so the retry got the first answer'
  return { outcome: `Retried, ${ONCE[typeOf(facts)]}`, tone: 'ok', sentence: `${deedOf(facts)} once: ${how}.` }
}

function doneAtOnce(facts: OperationFacts): string {
  if (facts.operation !== 'create_portfolio') return `${deedOf(facts)} at the first attempt.`
  return `${whoOf(facts)} has a new portfolio${facts.portfolio ? ` of ${facts.portfolio.token_symbol}` : ''}.`
}

function refused(facts: OperationFacts): OutcomeInWords {
  if (facts.attempts.some(({ reverted }) => reverted)) {
    const sentence = `The transaction of ${lower(subjectOf(facts))} stands in a block and failed: no money moved.`
    return { outcome: 'Reverted', tone: 'warn', sentence }
  }
  const sentence = `${subjectOf(facts)} was refused${lastAnswerOf(facts)}: no money moved.`
  return { outcome: 'Refused', tone: 'plain', sentence }
}

/** Statuses that ask the client to come again. */
const LATER = new Set([425, 429])

function putOff(facts: OperationFacts): OutcomeInWords {
  const status = facts.attempts.at(-1)?.exchange.response?.status ?? 0
  const sentence = `${subjectOf(facts)} was refused${lastAnswerOf(facts)} before anything was done: no money moved.`
  return { outcome: LATER.has(status) ? 'Put off' : 'Refused', tone: 'plain', sentence }
}

/** No attempt has said what became of it. */
function unknown(facts: OperationFacts): OutcomeInWords {
  const last = facts.attempts.at(-1)
  const lost = last?.said === 'nothing' && endInWords(last.exchange).kind === 'lost'
  const what = facts.times > 0 ? 'was carried out' : isUnderWay(facts) ? 'is under way' : 'has moved nothing so far'
  const told = lost ? 'no answer reached the client' : `the client got no outcome${lastAnswerOf(facts)}`
  return {
    outcome: lost ? 'Answer lost' : 'No outcome yet',
    tone: 'warn',
    sentence: `${subjectOf(facts)} ${what}, and ${told}: a retry under the same key is safe.`,
  }
}

function isUnderWay({ attempts, booked }: OperationFacts): boolean {
  return (
    booked.length === 0 && attempts.some(({ exchange, reverted }) => exchange.transfer?.tx_hash != null && !reverted)
  )
}

/** " with 422 insufficient_balance"; empty without an answer */
function lastAnswerOf({ attempts }: OperationFacts): string {
  const answered = attempts.filter(({ exchange }) => exchange.end === 'answered' && exchange.response).at(-1)
  const { status, code } = answered?.exchange.response ?? {}
  if (status === undefined) return ''
  return ` with ${status}${code == null ? '' : ` ${shorten(code, 60)}`}`
}

function lower(text: string): string {
  return text.startsWith('A ') ? `a ${text.slice(2)}` : text
}
