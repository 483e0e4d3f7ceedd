import type { ExplainedExchange } from '../../control/contract.ts'
import { Facts } from './facts.tsx'

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
      <Message start={`${request.method} ${request.path}${queryOf(request.query)}`} message={request} />
      <Token name="Identity-provider token" token={request.idp_token} refusal={refusal} check="idp_token" />
      <Token name="User token" token={request.user_token} refusal={refusal} check="user_token" />
      <h3>{exchange.end === 'answered' ? 'Answer' : 'Answer that did not arrive'}</h3>
      {response === null ? <p class="mute">There was none.</p> : <Message start={response.status} message={response} />}
    </details>
  )
}

interface MessageProps {
  start: string | number
  message: Pick<ExplainedExchange['request'], 'headers' | 'body' | 'body_cut'>
}

function Message({ start, message: { headers, body, body_cut } }: MessageProps) {
  return (
    <pre>
      {[start, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\n')}
      {body !== null && `\n\n${pretty(body)}${body_cut ? ' …' : ''}`}
    </pre>
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
  const members = Object.entries({ ...token.header, ...token.claims })
  return (
    <>
      <h3>
        {name} <small class="mute">{token.fingerprint}</small>
      </h3>
      {members.length === 0 && <p class="mute">It is not a JSON Web Token.</p>}
      <Facts
        class="claims"
        facts={members.map(([claim, value]) => {
          const isWrong = claim === wrong
          const right = isWrong && refusal?.expected ? ` ← expected ${refusal.expected}` : ''
          return [claim, claimText(claim, value) + right, isWrong ? 'bad' : undefined]
        })}
      />
    </>
  )
}

/** Claims that are moments, in seconds since the Unix epoch. */
const MOMENTS = ['exp', 'iat', 'nbf']

function claimText(claim: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isMoment = MOMENTS.includes(claim) && typeof value === 'number' && Math.abs(value) < 1e11
  return isMoment ? `${text} (${new Date(value * 1000).toISOString()})` : text
}

function queryOf(query: [string, string][]): string {
  return query.length === 0 ? '' : `?${new URLSearchParams(query)}`
}

/** JSON in lines; other text as it is. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
