import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { succeeded } from '../evidence/answers.ts'
import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { plural, quote } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

const OPERATIONS: readonly (string | null)[] = [
  'create_portfolio',
  'list_portfolios',
  'deposit',
  'withdraw',
  'list_transactions',
]

export const userTokenSubject: Finding = {
  id: 'user-token-subject',
  title: 'The user token is that of the end user in the URL',
  failureTitle: 'Requests carry the token of another end user: the service refuses them',
  rule: 'User token, rules 3 and 5: "sub: The end user\'s external_id. It must equal external_id in the URL." "When sub differs from the URL external_id, then 403 sub_url_mismatch."',
  impact: 'critical',
  consequence:
    'End users other than the first get 403; it takes one more mistake, in the URL, to move the funds of the wrong person.',
  situation: 'requests of an end user, with a user token',
  exerciseWith: '',
  fix: 'Keep user tokens by external_id, and mint one for each end user.',
  wrongClients: ['user-token-of-another'],
  judge,
}

/** A request with a user token, the token's subject, and the end user of the request. */
interface Sent {
  exchange: RecordedExchange
  sub: string
  whose: string
}

function judge({ exchanges, ended }: Evidence): Judgement {
  const sent = exchanges.flatMap((exchange): Sent[] => {
    const { operation, external_id, tenant, request } = exchange
    const sub = request.user_token?.claims?.sub
    if (!OPERATIONS.includes(operation) || external_id === null || typeof sub !== 'string') return []
    return [{ exchange, sub, whose: JSON.stringify([tenant, external_id]) }]
  })
  const wrong = sent.filter(({ exchange, sub }) => sub !== exchange.external_id)
  const right = sent.filter(({ exchange, sub }) => sub === exchange.external_id)
  const [first] = wrong
  if (!first) {
    if (right.length === 0) return notExercised('No request came with a user token.')
    const users = new Set(right.map(({ whose }) => whose)).size
    const explanation = `${plural(right.length, 'request')} of ${plural(users, 'end user')} came with the token of that end user.`
    return passed(
      explanation,
      right.slice(0, 1).map(({ exchange }) => exchange),
    )
  }
  const facts = `${plural(wrong.length, 'request')} of ${plural(sent.length, 'request')} came with the token of another end user, such as that of ${quote(first.sub)} for ${quote(first.exchange.external_id ?? '')}.`
  const shown = wrong.slice(0, 2).map(({ exchange }) => exchange)
  const habitual = isHabit(right.length, wrong.length) || (ended && isOneForAll(right, wrong, exchanges))
  if (!habitual) return needsReview(`${facts} ${PERHAPS_A_TEST}`, shown)
  const came = `sub ${quote(first.sub)}`
  return failed(facts, { expected: `sub ${quote(first.exchange.external_id ?? '')}`, came }, shown)
}

/**
 * @returns true if the token of the first end user was sent for all: no other ever had its own, the client created the others,
 * and nothing succeeded after the first refusal.
 */
function isOneForAll(right: readonly Sent[], wrong: readonly Sent[], exchanges: Evidence['exchanges']): boolean {
  const [kept] = new Set(right.map(({ exchange }) => exchange.request.user_token?.fingerprint))
  const served = new Set(right.map(({ whose }) => whose))
  const created = new Set(
    exchanges
      .filter((one) => one.operation === 'create_end_user' && succeeded(one))
      .map(({ tenant, external_id }) => JSON.stringify([tenant, external_id])),
  )
  const last = right.at(-1)?.exchange.number ?? 0
  const isKept = ({ exchange, whose }: Sent) =>
    exchange.request.user_token?.fingerprint === kept && created.has(whose) && exchange.number > last
  return served.size === 1 && wrong.every(isKept)
}
