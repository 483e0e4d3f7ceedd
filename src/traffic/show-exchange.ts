import type { StruckBy } from '../domain/exchange.ts'
import { unquotedKey } from '../domain/idempotency-key.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { TRANSFER_STEPS } from '../domain/transfers.ts'
import { jsonObject } from '../support/json.ts'
import { rawHeaderOf } from './headers.ts'
import { type LiveExchange, STEP_FIELDS } from './live-exchange.ts'
import type {
  CausedTransfer,
  Moment,
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
  RecordedStep,
  Refusal,
} from './recorded-exchange.ts'
import type { Redactor } from './redact.ts'
import { redactAnswer, redactBody } from './redact-body.ts'
import { bearerToken, showToken } from './show-token.ts'
import { clientIdOf, type TenantDirectory, whoAsked } from './who-asked.ts'

/** Facts about the namespace that are needed to show an exchange. */
export interface ShowingDeps extends TenantDirectory {
  settings: Pick<ServiceSettings, 'name'>
  redactor: Redactor
}

/** Adds the hidden values of the request, which an error may repeat. */
interface AnswerDeps extends ShowingDeps {
  hidden: readonly string[]
}

/** Circumstances in which an exchange is shown. */
export interface ExchangeShowing {
  request_id: string
  /** Ordinal among the exchanges of its operation and end user. */
  ordinal: number
  /** Milliseconds since the Unix epoch: the base of its recorded times, and now. */
  base: number
  now: number
}

/** The facts of an exchange that say to which operation it belongs. Its body and key may hold secrets: they are for comparing only. */
export interface ExchangeOutline extends Pick<RecordedExchange, 'number' | 'operation' | 'tenant' | 'external_id'> {
  key: string | null
  body: string | null
  /** Code of its refusal; null for none. */
  refused: string | null
  transaction_id: string | null
}

/** Outlines an exchange. */
export function outlineOf(live: LiveExchange, deps: TenantDirectory): ExchangeOutline {
  whoAsked(live, deps)
  const { number, operation, tenant = null, external_id = null, headers, body, refusal, transaction_id } = live
  const sent = operation === null ? undefined : rawHeaderOf(headers, 'idempotency-key')
  const who = { number, operation, tenant, external_id }
  return { ...who, key: sent ? unquotedKey(sent) : null, body, refused: refusal?.code ?? null, transaction_id }
}

/** Decodes and redacts an exchange. Call `whoAsked` on it first. */
export function showExchange(live: LiveExchange, showing: ExchangeShowing, deps: ShowingDeps): RecordedExchange {
  const { base, now, ordinal, request_id } = showing
  const ended = live.end === 'open' ? null : momentOf(base + live.ended, live.endedAhead)
  const { result: request, hidden } = deps.redactor.tracing(() => requestOf(live, deps))
  const response = responseOf(live, request_id, { ...deps, hidden })
  return {
    request_id,
    number: live.number,
    operation: live.operation,
    tenant: live.tenant ?? null,
    external_id: live.external_id ? deps.redactor.text(live.external_id) : (live.external_id ?? null),
    ordinal,
    connection: live.connection,
    began: momentOf(base + live.began, live.beganAhead),
    ended,
    end: live.end,
    unread: live.unread,
    dropped: live.dropped,
    took_ms: Math.max(0, (ended ? live.ended : now - base) - live.began),
    request,
    response,
    refusal: refusalOf(live, response, { ...deps, hidden }),
    faults: live.struckBy ? [struckBy(live.struckBy, deps)] : [],
    idempotency: idempotencyOf(live, deps),
    transfer: transferOf(live, response, base, deps),
  }
}

function momentOf(wall: number, ahead: number): Moment {
  return { wall: new Date(wall).toISOString(), clock: new Date(wall + ahead).toISOString() }
}

function requestOf(live: LiveExchange, { redactor }: ShowingDeps): RecordedRequest {
  const { method, url, headers, body } = live
  const client = clientIdOf(live)
  const at = url.indexOf('?')
  const query = at < 0 ? [] : [...new URLSearchParams(url.slice(at + 1))]
  return {
    method,
    path: redactor.path(at < 0 ? url : url.slice(0, at), live.operation !== null),
    query: query.map(([name, value]) => [redactor.text(name), redactor.parameter(name, value)]),
    headers: pairsOf(headers).map(([name, value]) => [redactor.text(name), redactor.header(name, value)]),
    body: body && redactBody(redactor, body, live.operation),
    body_bytes: live.bodyBytes,
    body_cut: live.bodyCut,
    idp_token: showToken(bearerToken(rawHeaderOf(headers, 'authorization')), redactor),
    user_token: showToken(rawHeaderOf(headers, 'x-user-token'), redactor),
    client_id: client === null ? null : redactor.clientId(client),
  }
}

function responseOf(
  live: LiveExchange,
  request_id: string,
  { redactor, settings, hidden }: AnswerDeps,
): RecordedResponse | null {
  const { status, answer } = live
  if (status === 0) return null
  const isText = typeof answer === 'string'
  const body = isText ? answer : (JSON.stringify(answer) ?? '')
  const bytes = isText ? live.answerBytes : Buffer.byteLength(body)
  const headers = live.answerHeaders ?? {
    [`x-${settings.name}-api-version`.toLowerCase()]: '1.0.0',
    [`x-${settings.name}-request-id`.toLowerCase()]: request_id,
    'content-type': 'application/json; charset=utf-8',
  }
  const read = status >= 400 || live.operation === 'token' ? jsonObject(body) : undefined
  const code = status >= 400 ? (read?.code ?? read?.error) : undefined
  return {
    status,
    headers: Object.entries({ 'content-length': bytes, ...headers }).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, redactor.answerHeader(name, String(value))]],
    ),
    body: body === '' ? null : redactAnswer(redactor, body, status >= 400 ? hidden : []),
    body_bytes: bytes,
    body_cut: live.answerCut,
    code: typeof code === 'string' ? redactor.text(code) : null,
    issued: issuedIn(read, redactor),
  }
}

/** Redacts the explanation of a fault that the request brought along: it contains the client's own words. */
function struckBy(fault: StruckBy, { redactor }: ShowingDeps): StruckBy {
  return fault.id === 'header' ? { ...fault, explanation: redactor.text(fault.explanation) } : fault
}

function issuedIn(read: Record<string, unknown> | undefined, redactor: Redactor): RecordedResponse['issued'] {
  const { access_token, expires_in } = read ?? {}
  const token = typeof access_token === 'string' ? showToken(access_token, redactor) : null
  return token && typeof expires_in === 'number' ? { token, expires_in } : null
}

/** The refusal of a kept outcome is read from the answer, since it was recorded in another exchange. */
function refusalOf(live: LiveExchange, response: RecordedResponse | null, { redactor, hidden }: AnswerDeps) {
  const { refusal, keyUse } = live
  if (refusal) {
    const shown = (text: string | null) => text && redactor.echo(text, hidden)
    const { aspect, expected, came, detail } = refusal
    const id = aspect === 'client_id' ? came && redactor.clientId(came) : shown(came)
    return { ...refusal, aspect: shown(aspect), expected: shown(expected), came: id, detail: shown(detail) ?? '' }
  }
  if (!response?.code || keyUse === 'unused') return null
  const body = jsonObject(response.body)
  const words = { aspect: textIn(body, 'param'), expected: null, came: null, detail: textIn(body, 'detail') ?? '' }
  return { check: 'operation', code: response.code, ...words } satisfies Refusal
}

function idempotencyOf({ headers, keyUse }: LiveExchange, { redactor }: ShowingDeps): RecordedExchange['idempotency'] {
  const sent = rawHeaderOf(headers, 'idempotency-key')
  if (!sent) return null
  return { key: redactor.text(unquotedKey(sent)), use: keyUse }
}

/** The transfer that it carried out or, for a repetition, the one whose outcome it got. */
function transferOf(
  live: LiveExchange,
  response: RecordedResponse | null,
  base: number,
  { redactor }: ShowingDeps,
): CausedTransfer | null {
  const { operation } = live
  if (operation !== 'deposit' && operation !== 'withdraw') return null
  const answered = live.transferring ? undefined : jsonObject(response?.body)
  const transaction_id = live.transaction_id ?? textIn(answered, 'transaction_id')
  if (!live.transferring && transaction_id === null) return null
  const asked = jsonObject(live.body)
  return {
    type: operation,
    transaction_id,
    tx_hash: live.tx_hash ?? textIn(answered, 'tx_hash'),
    portfolio_id: redactor.text(textIn(asked, 'portfolio_id') ?? ''),
    amount_minor: redactor.text(textIn(asked, 'amount_minor') ?? ''),
    shown_by: live.shown_by,
    steps: live.transferring ? stepsOf(live.steps ?? [], base) : [],
  }
}

function stepsOf(noted: readonly number[], base: number): RecordedStep[] {
  return Array.from({ length: noted.length / STEP_FIELDS }, (_, at) => {
    const [place = 0, wall = 0, ahead = 0, number = -1, after] = noted.slice(at * STEP_FIELDS, (at + 1) * STEP_FIELDS)
    const step = TRANSFER_STEPS[place] ?? 'claimed'
    const one: RecordedStep = { step, at: momentOf(base + wall, ahead), after_end: after === 1 }
    if (step === 'mined') one.block = number
    if (step === 'signed') one.nonce = number
    return one
  })
}

function textIn(object: Record<string, unknown> | undefined, name: string): string | null {
  const value = object?.[name]
  return typeof value === 'string' ? value : null
}

function pairsOf(headers: readonly string[]): [string, string][] {
  return Array.from({ length: headers.length >> 1 }, (_, i) => [headers[2 * i] ?? '', headers[2 * i + 1] ?? ''])
}
