import { useState } from 'preact/hooks'
import type { Credentials, ExplainedExchange, FaultRule, MintedToken, OperationDetail } from '../../control/contract.ts'
import { hrefOf } from '../model/address.ts'
import { ApiError, call, pathOf, quoted } from '../model/api.ts'
import { CopyBox, copied } from '../parts/copy-button.tsx'

/** What can be done with an operation: send it again, copy it, do its fault to the next one, make a scenario. */
export function OperationActions({ detail }: { detail: OperationDetail }) {
  const [said, setSaid] = useState('')
  const [panel, setPanel] = useState<'edit' | 'scenario' | null>(null)
  const exchange = detail.attempts.at(-1)?.exchange
  if (!exchange) return null
  const doing = (work: () => Promise<string>) => () => {
    void work().then(setSaid, (error: Error) => setSaid(error.message))
  }
  const again = (key: string | undefined) => async () => {
    const { status } = await sendAgain(exchange, { key })
    return status === 0 ? 'Sent again; no answer came.' : `Sent again: ${status}.`
  }
  const canHaveKey = exchange.idempotency !== null
  return (
    <section class="actions" aria-label="Actions">
      <div class="row-of-buttons">
        <button type="button" class="button primary" data-key="r" onClick={doing(again(keyOf(exchange)))}>
          Send again <kbd>r</kbd>
        </button>
        {canHaveKey && (
          <button type="button" class="button" onClick={doing(again(crypto.randomUUID()))}>
            Send with a new key
          </button>
        )}
        <button
          type="button"
          class="button"
          aria-expanded={panel === 'edit'}
          onClick={() => setPanel(panel === 'edit' ? null : 'edit')}
        >
          Edit and send
        </button>
        <button
          type="button"
          class="button"
          data-key="c"
          onClick={doing(async () =>
            (await copied(await curlAgain(exchange))) ? 'Copied as curl.' : 'This page may not copy.',
          )}
        >
          Copy as curl <kbd>c</kbd>
        </button>
        <button type="button" class="button" data-key="f" onClick={doing(() => doToNext(detail))}>
          Do this to the next one <kbd>f</kbd>
        </button>
        <button
          type="button"
          class="button"
          data-key="s"
          aria-expanded={panel === 'scenario'}
          onClick={() => setPanel(panel === 'scenario' ? null : 'scenario')}
        >
          Make a scenario <kbd>s</kbd>
        </button>
      </div>
      <p role="status" class="mute">
        {said}
      </p>
      {panel === 'edit' && (
        <Edit
          exchange={exchange}
          send={(body, key) => doing(async () => `Sent: ${(await sendAgain(exchange, { body, key })).status}.`)()}
        />
      )}
      {panel === 'scenario' && <CopyBox label="Scenario file" text={scenarioOf(detail)} />}
    </section>
  )
}

function Edit({ exchange, send }: { exchange: ExplainedExchange; send(body: string, key: string): void }) {
  const [body, setBody] = useState(exchange.request.body ?? '')
  const [key, setKey] = useState(keyOf(exchange) ?? '')
  return (
    <form
      class="card stack"
      onSubmit={(event) => {
        event.preventDefault()
        send(body, key)
      }}
    >
      <label>
        Body
        <textarea rows={5} value={body} onInput={({ currentTarget }) => setBody(currentTarget.value)} />
      </label>
      <label>
        Idempotency-Key
        <input value={key} onInput={({ currentTarget }) => setKey(currentTarget.value)} />
      </label>
      <button type="submit" class="button primary">
        Send
      </button>
    </form>
  )
}

function keyOf(exchange: ExplainedExchange): string | undefined {
  return exchange.idempotency?.key
}

/** Headers that are set anew, or that a page may not set. */
const NOT_REPEATED =
  /^(authorization|x-user-token|idempotency-key|host|connection|content-length|accept-encoding|user-agent|cookie|origin|referer|sec-.*|transfer-encoding|expect|x-sandbox-.*|keep-alive|te|upgrade|date|via)$/i

/** Tokens for the tenant and end user of an exchange, minted now: those of the record are not kept. */
async function freshTokens({ tenant, external_id }: ExplainedExchange): Promise<Record<string, string>> {
  if (tenant === null) throw new Error('The tenant of this request is not known, so nobody can sign it again.')
  const slug = encodeURIComponent(tenant)
  const idp = await call<MintedToken>('POST', `tenants/${slug}/idp_tokens`, {})
  const user =
    external_id === null ? null : await call<MintedToken>('POST', `tenants/${slug}/user_tokens`, { external_id })
  return { authorization: `Bearer ${idp.token}`, ...(user && { 'x-user-token': user.token }) }
}

/** Sends a request again, with fresh tokens. @returns its status; 0 for no answer */
async function sendAgain(
  exchange: ExplainedExchange,
  { body, key }: { body?: string | undefined; key?: string | undefined },
): Promise<{ status: number }> {
  const { request } = exchange
  if (exchange.operation === 'token')
    throw new Error('A request for a token has the client secret, which is not kept: use the tokens of Control.')
  const headers = new Headers(request.headers.filter(([name]) => !NOT_REPEATED.test(name)))
  for (const [name, value] of Object.entries(await freshTokens(exchange))) headers.set(name, value)
  if (key) headers.set('idempotency-key', key)
  const sent = body ?? request.body
  const answer = await fetch(
    `${request.path}${request.query.length > 0 ? `?${new URLSearchParams(request.query)}` : ''}`,
    {
      method: request.method,
      headers,
      cache: 'no-store',
      ...(sent !== null && sent !== '' && { body: sent }),
    },
  ).catch((error: unknown) => {
    if (error instanceof ApiError) throw error
    return { status: 0 }
  })
  return { status: answer.status }
}

/** A request as a command for a POSIX shell, which mints its tokens first. */
async function curlAgain(exchange: ExplainedExchange): Promise<string> {
  const { request, tenant, external_id } = exchange
  const { control_token } = await call<Credentials>('GET', 'credentials')
  const minting = (kind: string, body: object) => {
    const token = control_token === undefined ? '' : ' -H "authorization: Bearer $CONTROL_TOKEN"'
    const url = quoted(`${location.origin}${pathOf(`tenants/${tenant}/${kind}`)}`)
    return `$(curl -s${token} ${url} -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`
  }
  const lines = [
    `curl -i -X ${request.method} ${quoted(`${location.origin}${request.path}${request.query.length > 0 ? `?${new URLSearchParams(request.query)}` : ''}`)}`,
  ]
  if (tenant !== null && exchange.operation !== 'token')
    lines.push(`-H "authorization: Bearer ${minting('idp_tokens', {})}"`)
  if (tenant !== null && request.user_token && external_id !== null)
    lines.push(`-H "x-user-token: ${minting('user_tokens', { external_id })}"`)
  const key = keyOf(exchange)
  if (key !== undefined) lines.push(`-H ${quoted(`idempotency-key: ${key}`)}`)
  if (request.body !== null) lines.push("-H 'content-type: application/json'", `-d ${quoted(request.body)}`)
  return lines.join(' \\\n  ')
}

/** Puts the fault of an operation, or else a lost answer, in force for the next operation of its kind. */
async function doToNext(detail: OperationDetail): Promise<string> {
  const rule = sameFaultRule(detail)
  const [added] = await call<{ explanation: string }[]>('POST', 'faults', [rule])
  return `The next ${detail.operation}: ${added?.explanation ?? rule.kind}`
}

function sameFaultRule(detail: OperationDetail): FaultRule {
  const struck = detail.attempts.flatMap(({ exchange }) => exchange.faults)[0]
  const match = {
    ...(detail.operation !== null && { operation: detail.operation }),
    ...(detail.external_id !== null && { external_id: detail.external_id }),
  }
  const phase =
    struck?.phase ??
    (detail.moves_money && detail.operation !== 'create_portfolio' ? 'after_broadcast' : 'during_response')
  return { kind: struck?.kind ?? 'drop_connection', phase, match, times: 1 } as FaultRule
}

/** The fault of an operation as a scenario file. */
function scenarioOf(detail: OperationDetail): string {
  const { kind, phase, match } = sameFaultRule(detail)
  const matches = Object.entries(match ?? {}).map(([name, value]) => `      ${name}: ${JSON.stringify(value)}`)
  return [
    `name: ${detail.operation ?? 'request'}-${kind}`.replaceAll('_', '-'),
    `description: ${kind.replaceAll('_', ' ')} at ${phase}, as it struck operation ${detail.number}`,
    'faults:',
    `  - kind: ${kind}`,
    `    phase: ${phase}`,
    ...(matches.length > 0 ? ['    match:', ...matches] : []),
    'expect:',
    '  findings:',
    ...(detail.finding_ids.length > 0 ? detail.finding_ids : ['single-transfer']).map((id) => `    - ${id}`),
    '',
    `# yield-sandbox exec --scenario ./this-file.yaml -- npm test   (see also ${location.origin}/${hrefOf('operations', String(detail.number))})`,
    '',
  ].join('\n')
}
