import type { Check } from '../domain/check.ts'
import { shorten } from '../support/foreign-text.ts'
import { jsonObject } from '../support/json.ts'
import { durationInWords } from '../support/quantities.ts'
import type { CausedTransfer, RecordedExchange, Refusal } from './recorded-exchange.ts'

/** An exchange and its explanation in sentences. */
export interface ExplainedExchange extends RecordedExchange {
  explanation: string[]
}

/** Facts that the record of an exchange does not hold. */
export interface Sequel {
  /** The exchange whose outcome it got, if that is still known. */
  original?: RecordedExchange | undefined
  /** True if the ledger has its transfer by now. */
  settled?: boolean
}

/**
 * Explains an exchange to a partner's developer: the request and who sent it, the fault that struck it, the check that refused it, its
 * end, the money that moved, and the next step.
 */
export function explainExchange(exchange: RecordedExchange, { original, settled = false }: Sequel = {}): string[] {
  return [
    asked(exchange),
    ...struck(exchange),
    ...refused(exchange),
    ended(exchange),
    ...money(exchange, settled),
    ...keyed(exchange, original),
    ...[nextStep(exchange) ?? []].flat(),
  ]
}

function asked(exchange: RecordedExchange): string {
  const { request, connection, began, ordinal, external_id } = exchange
  const what = `${who(exchange)} asked ${wish(exchange)}: ${shorten(request.method)} ${shorten(request.path, 200)}`
  const again = external_id !== null && ordinal > 1 ? `, number ${ordinal} of its kind for ${shorten(external_id)}` : ''
  return `${what} on connection ${connection}, at ${began.wall}${again}.`
}

/** Checks before which a tenant is only claimed. */
const UNVERIFIED = new Set<Check>(['head', 'route', 'ready', 'quota', 'fault', 'client_credentials', 'idp_token'])

function who({ tenant, request, refusal }: RecordedExchange): string {
  if (tenant !== null) {
    const claimed = refusal && UNVERIFIED.has(refusal.check)
    return `${claimed ? 'Somebody who claims to be ' : ''}${shorten(tenant)}`
  }
  return request.client_id === null ? 'Somebody unknown' : `The client ${shorten(request.client_id)}`
}

function wish(exchange: RecordedExchange): string {
  const user = exchange.external_id === null ? 'an end user' : shorten(exchange.external_id)
  switch (exchange.operation) {
    case 'list_pools':
      return 'for the pools'
    case 'create_end_user':
      return `to create the end user ${user}`
    case 'create_portfolio':
      return `to create a portfolio for ${user}`
    case 'list_portfolios':
      return `for the portfolios of ${user}`
    case 'list_transactions':
      return `for the transactions of ${user}`
    case 'deposit':
      return `to deposit ${sumOf(exchange)} into ${portfolioOf(exchange)} for ${user}`
    case 'withdraw':
      return `to withdraw ${sumOf(exchange)} from ${portfolioOf(exchange)} for ${user}`
    case 'token':
      return 'for a token'
    default:
      return 'for something that the service does not have'
  }
}

function sumOf(exchange: RecordedExchange): string {
  const amount = fieldOf(exchange, 'amount_minor')
  return amount === undefined ? 'an amount that cannot be read' : `${amount} minor units`
}

function portfolioOf(exchange: RecordedExchange): string {
  return fieldOf(exchange, 'portfolio_id') ?? 'a portfolio that is not named'
}

/** A text or number of the body. */
function fieldOf({ request }: RecordedExchange, name: string): string | undefined {
  const value = jsonObject(request.body)?.[name]
  return typeof value === 'string' || typeof value === 'number' ? shorten(String(value)) : undefined
}

function struck({ faults }: RecordedExchange): string[] {
  return faults.map(({ id, kind, phase, explanation }) => {
    const fault = id === 'header' ? `The fault ${kind} that it brought along` : `The fault ${id} (${kind})`
    return sentence(`${fault} struck it at ${phase}: ${explanation}`)
  })
}

/** Each check as the subject of "refused it". */
const SUBJECTS: Record<Check, string> = {
  head: "The check of the request's head",
  route: 'The check of method and path',
  ready: 'The check whether the sandbox is ready',
  quota: 'The quota of the namespace in this sandbox',
  fault: 'The fault',
  client_credentials: 'The check of the client credentials',
  idp_token: 'The check of the identity-provider token',
  role: "The check of the tenant's access",
  user_token: 'The check of the user token',
  subject: 'The check whose user token it is',
  idempotency_key: 'The check of the Idempotency-Key',
  body: 'The check of the body',
  parameters: 'The check of the parameters',
  operation: 'The operation itself',
}

function refused({ refusal }: RecordedExchange): string[] {
  if (!refusal) return []
  const comparison = compared(refusal)
  return [
    `${SUBJECTS[refusal.check]} refused it with ${shorten(refusal.code)}${comparison && `: ${comparison}`}.`,
    ...(refusal.detail === '' ? [] : [sentence(shorten(refusal.detail, 1000))]),
  ]
}

/** `aud: expected a, came b`; empty if nothing was compared: then the detail says everything. */
function compared({ aspect, expected, came }: Refusal): string {
  const words = [
    ...(expected === null ? [] : [`expected ${shorten(expected, 300)}`]),
    ...(came === null ? [] : [`came ${shorten(came, 300)}`]),
  ]
  return words.length === 0 ? '' : `${aspect === null ? '' : `${shorten(aspect)}: `}${words.join(', ')}`
}

function ended(exchange: RecordedExchange): string {
  const { end, unread, dropped, took_ms, response } = exchange
  const span = durationInWords(took_ms)
  switch (end) {
    case 'open':
      return `It is not over yet, after ${span}.`
    case 'answered':
      return `It was answered ${answerOf(exchange)} after ${span}${unread ? UNREAD : ''}.`
    case 'dropped':
      return `${DROPS[dropped ?? 'closed']} after ${span}${wouldHave(response)}.`
    case 'abandoned':
      return `The client left after ${span}, before it was answered${wouldHave(response)}.`
    case 'cut_off':
      return `A reset, or the end of a process of the sandbox, cut it off after ${span}.`
  }
}

const UNREAD = ', and the client reset the connection without having read the answer'

const DROPS: Record<NonNullable<RecordedExchange['dropped']>, string> = {
  reset: 'The fault reset its connection',
  closed: 'The fault closed its connection without an answer',
  truncated: 'The fault closed its connection in the middle of the answer',
}

function answerOf({ response }: Pick<RecordedExchange, 'response'>): string {
  if (!response) return 'nothing'
  return response.code === null ? String(response.status) : `${response.status} ${shorten(response.code)}`
}

function wouldHave(response: RecordedExchange['response']): string {
  return response ? `; the answer would have been ${answerOf({ response })}` : ''
}

function money(exchange: RecordedExchange, settled: boolean): string[] {
  const { operation, transfer, idempotency, response } = exchange
  if (operation !== 'deposit' && operation !== 'withdraw') return []
  if (!transfer?.transaction_id) return noMoney(exchange)
  const hash = transfer.tx_hash === null ? '' : `, hash ${transfer.tx_hash}`
  const transaction = `transaction ${transfer.transaction_id}${hash}`
  if (response?.code === 'transaction_reverted') return [`Its ${transaction}, was mined and failed: no money moved.`]
  if (idempotency?.use === 'replayed') return [`Its outcome is that of the ${transaction}: the money moved once.`]
  const act = transfer.type === 'deposit' ? 'deposit' : 'withdrawal'
  const sum = `The ${act} of ${shorten(transfer.amount_minor)} minor units`
  return [`${sum} ${outcome(exchange, settled)}: ${transaction}.`, ...everything(transfer)]
}

function everything({ shown_by }: CausedTransfer): string[] {
  return shown_by === null
    ? []
    : [`The answer to ${shown_by} showed this amount as the total: it withdraws everything, whatever accrued since.`]
}

function noMoney({ idempotency, refusal, response }: RecordedExchange): string[] {
  // The outcome belongs to another exchange, whose transaction is not known here.
  if (idempotency?.use === 'joined' || idempotency?.use === 'replayed') return []
  return [refusal || response ? 'No money moved.' : 'No transaction has been signed for it so far.']
}

/** The state of a signed transfer, and whether its client knows. */
function outcome(exchange: RecordedExchange, settled: boolean): string {
  const { end, response } = exchange
  const good = response !== null && response.status < 400
  if (end === 'answered' && good) return 'was carried out'
  const became = settled ? 'was carried out' : 'was signed and goes on'
  if (end === 'answered') return `${became}, although the client was told ${answerOf(exchange)}`
  if (end === 'open') return 'is under way'
  if (end === 'cut_off') return 'was signed, and then the sandbox was reset, or a process of it ended'
  return good || settled
    ? 'was carried out although nobody was told'
    : 'was signed and goes on, although nobody is told'
}

function keyed({ idempotency, operation }: RecordedExchange, original?: RecordedExchange): string[] {
  if (!idempotency) return []
  const key = `Idempotency-Key ${shorten(idempotency.key)}`
  const first = original?.request_id ?? 'an earlier request that is forgotten'
  switch (idempotency.use) {
    case 'first':
      return [`It was the first ${operation} with the ${key}.`]
    case 'joined':
      return [`It joined ${first}, which was running under the same ${key}, and shares its outcome.`]
    case 'replayed':
      return [`It was given the outcome of ${first} again, which had the same ${key}.`]
    case 'unused':
      return [`Nobody looked at its ${key}.`]
  }
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

const TAKE_KEY_AGAIN = 'Repeat it with the same Idempotency-Key'

const SEND_USER_TOKEN =
  'Send the header X-User-Token with a user token: a JWT that you sign for the end user in the URL.'

/** Next step of a client by error code: codes of the catalogue and of the token endpoint. */
const STEPS: Record<string, string> = {
  validation_error: 'Send the request as expected; the same one will be refused again.',
  conflicting_cursors: 'Send one of the two cursors.',
  cursor_invalid: 'Pass cursors on unchanged, on the list that they came from; fetch the first page.',
  cursor_expired: 'Fetch the first page and go on from there.',
  token_missing: 'Send the header Authorization: Bearer with a token of the token endpoint.',
  invalid_idp_token: 'Obtain a new token from the token endpoint and repeat the request once.',
  unknown_partner: 'Compare the client id with the one that is registered; do not repeat the request.',
  invalid_user_token: 'Mint a new user token; if that is refused too, compare key and issuer with what is registered.',
  unknown_partner_issuer: 'Compare the issuer of the user token with the one that is registered.',
  cross_tenant_jwt: 'Sign the user token with the key of the tenant whose access token is sent.',
  insufficient_role: 'Ask for access to this operation; do not repeat the request.',
  sub_url_mismatch: 'Use the user token of the end user in the URL.',
  end_user_not_found: 'Create the end user, then send the request with a fresh Idempotency-Key.',
  pool_not_found: 'Take chain, token, market and protocol from one item of the pool list.',
  idempotency_key_required: 'Send an Idempotency-Key: a UUID v4, fresh for each operation, the same for its retries.',
  not_found: 'Compare the URL with the base URL of the service.',
  portfolio_not_found: 'Compare portfolio_id with the list of portfolios.',
  method_not_allowed: 'Use a method that the header Allow names.',
  idempotency_key_in_progress: 'Wait as long as Retry-After says, then repeat it with the same Idempotency-Key.',
  request_timeout: 'Send it again, all of it within 60 s.',
  payload_too_large: 'Send a smaller body.',
  uri_too_long: 'Send a shorter path and query.',
  unsupported_media_type: 'Send Content-Type: application/json, and the body as it is.',
  idempotency_key_in_use_with_different_params:
    'Give each operation a fresh Idempotency-Key; only a retry keeps its own.',
  amount_too_small: 'Deposit more, with a fresh Idempotency-Key.',
  insufficient_balance: 'Report it to the end user; another amount takes a fresh Idempotency-Key.',
  transaction_reverted: 'Read the detail; a new attempt takes a fresh Idempotency-Key.',
  rate_limited: 'Wait as long as Retry-After says, then repeat it, with the same Idempotency-Key where it had one.',
  request_header_fields_too_large: 'Send fewer or shorter headers.',
  not_implemented: 'Leave the transfer coding out, or use another method.',
  sandbox_starting: 'Wait as long as Retry-After says; GET /_sandbox/ready gives the reason.',
  invalid_client: 'Compare client_id and client_secret with GET /_sandbox/credentials.',
  invalid_scope: 'Ask for the scope that GET /_sandbox/credentials shows.',
  unsupported_grant_type: 'Send grant_type=client_credentials.',
  invalid_request: 'Send a form with grant_type, client_id, client_secret and scope, each of them once.',
}

/** Statuses that leave the outcome of a request open (docs/money.md). */
const OUTCOME_UNKNOWN = new Set([500, 502, 503, 504])

/** @returns true if the client cannot know the outcome of its request */
function isUnanswered({ end, unread, response }: RecordedExchange): boolean {
  if (end === 'open') return false
  return end !== 'answered' || unread || response === null || OUTCOME_UNKNOWN.has(response.status)
}

/** The next step of a correct client, one sentence; undefined when nothing is to be done. */
export function nextStep(exchange: RecordedExchange): string | undefined {
  const { response, refusal } = exchange
  const code = response?.code ?? refusal?.code ?? ''
  if (code === 'sandbox_starting') return STEPS.sandbox_starting
  if (isUnanswered(exchange)) return afterNoAnswer(exchange)
  if (!response || response.status < 400) return undefined
  if (code === 'invalid_user_token' && exchange.request.user_token === null) return SEND_USER_TOKEN
  const known = Object.hasOwn(STEPS, code) ? STEPS[code] : undefined
  return known ?? 'Do not repeat it unchanged.'
}

function afterNoAnswer({ operation, idempotency, request }: RecordedExchange): string {
  const moves = operation === 'deposit' || operation === 'withdraw'
  if (idempotency && moves) {
    return `${TAKE_KEY_AGAIN}, or look at the list of transactions first: another key could move the money twice.`
  }
  if (idempotency) return `${TAKE_KEY_AGAIN}: another one could do it twice.`
  return request.method === 'GET' || operation === 'token'
    ? 'Send it again.'
    : 'Look at what became of it, then send it again.'
}
