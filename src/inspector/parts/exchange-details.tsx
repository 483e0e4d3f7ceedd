import type { ExplainedExchange } from '../../control/contract.ts'

/** An exchange as it was: explanation, request, answer, headers, and the claims of its tokens with what is wrong in them. */
export function ExchangeDetails({ exchange, title }: { exchange: ExplainedExchange; title: string }) {
  const { request, response, refusal, explanation, request_id } = exchange
  return (
    <details>
      <summary>
        {title} <small class="mute">{request_id}</small>
      </summary>
      <ul class="plain">
        {explanation.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <h3>Request</h3>
      <pre>
        {`${request.method} ${request.path}${queryOf(request.query)}\n${headersOf(request.headers)}`}
        {request.body !== null && `\n\n${pretty(request.body)}${request.body_cut ? ' …' : ''}`}
      </pre>
      <Token name="Identity-provider token" token={request.idp_token} refusal={refusal} check="idp_token" />
      <Token name="User token" token={request.user_token} refusal={refusal} check="user_token" />
      {refusal && (
        <p class="bad">
          Refused by the check {refusal.check}
          {refusal.aspect !== null && ` of ${refusal.aspect}`}: {refusal.detail}
          {refusal.expected !== null && ` Expected ${refusal.expected}`}
          {refusal.came !== null && `, and ${refusal.came} came.`}
        </p>
      )}
      <h3>{exchange.end === 'answered' ? 'Answer' : 'Answer that did not arrive'}</h3>
      {response === null ? (
        <p class="mute">There was none.</p>
      ) : (
        <pre>
          {`${response.status}\n${headersOf(response.headers)}`}
          {response.body !== null && `\n\n${pretty(response.body)}${response.body_cut ? ' …' : ''}`}
        </pre>
      )}
    </details>
  )
}

interface TokenProps {
  name: string
  token: ExplainedExchange['request']['idp_token']
  refusal: ExplainedExchange['refusal']
  check: string
}

function Token({ name, token, refusal, check }: TokenProps) {
  if (!token) return null
  const wrong = refusal?.check === check ? refusal.aspect : null
  const members = [...Object.entries(token.header ?? {}), ...Object.entries(token.claims ?? {})]
  return (
    <>
      <h3>
        {name} <small class="mute">{token.fingerprint}</small>
      </h3>
      {members.length === 0 ? (
        <p class="mute">It is not a JSON Web Token.</p>
      ) : (
        <dl class="claims">
          {members.map(([claim, value]) => (
            <div key={claim} class={claim === wrong ? 'bad' : ''}>
              <dt>{claim}</dt>
              <dd>
                {claimText(claim, value)}
                {claim === wrong && refusal?.expected !== null && ` ← expected ${refusal?.expected}`}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

/** Claims that are moments, in seconds since the Unix epoch. */
const MOMENTS = new Set(['exp', 'iat', 'nbf'])

function claimText(claim: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isMoment = MOMENTS.has(claim) && typeof value === 'number' && Math.abs(value) < 1e11
  return isMoment ? `${text} (${new Date(value * 1000).toISOString()})` : text
}

function queryOf(query: readonly (readonly [string, string])[]): string {
  return query.length === 0 ? '' : `?${new URLSearchParams(query.map(([name, value]) => [name, value]))}`
}

function headersOf(headers: readonly (readonly [string, string])[]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n')
}

/** JSON in lines; other text as it is. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
