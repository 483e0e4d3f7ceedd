import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { plural, quote } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, notExercised, passed } from '../finding.ts'

/** Names of query parameters that stand for a credential. */
const CREDENTIAL =
  /secret|password|assertion|^(x-)?((access|id|idp|user|auth|bearer)[-_]?)?token$|^(authorization|jwt|bearer)$/i
/** A header that is named like the client secret. Other headers with secrets look like those that a proxy adds. */
const SECRET_HEADER = /^(x-)?client[-_]?secret$/i
/** The replacement of a secret, or a token without its signature. */
const REDACTED = /\[redacted\]|\[token [0-9a-f]+\]|(?<![\w.-])eyJ[\w-]+\.[\w-]*\./

export const credentialPlacement: Finding = {
  id: 'credential-placement',
  title: 'Secrets and tokens are sent in headers and forms, never in URLs',
  failureTitle: 'Secrets or tokens are sent where logs keep them: anyone who reads a log can use them',
  rule: 'Identity-provider token, rules 1 and 2: by POST, application/x-www-form-urlencoded, with client_secret as a form field. Tokens go into Authorization and X-User-Token.',
  impact: 'critical',
  consequence:
    'URLs are kept by proxies, logs and monitoring for months: a client secret or token in a URL is as good as published.',
  situation: 'a request for a token, and one with a token',
  exerciseWith: '',
  fix: 'Send client_secret in the form of the token request, access tokens in Authorization: Bearer, user tokens in X-User-Token. Then replace the secret that stood in URLs.',
  wrongClients: ['secret-in-the-url'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const wrong = exchanges.flatMap((exchange) => {
    const place = misplacedIn(exchange)
    return place === undefined ? [] : [{ exchange, place }]
  })
  const [first] = wrong
  if (first) {
    return failed(
      `${plural(wrong.length, 'request')} sent a secret or a token in ${first.place}.`,
      {
        expected: 'credentials in the form of the token request, in Authorization and in X-User-Token',
        came: first.place,
      },
      wrong.slice(0, 2).map(({ exchange }) => exchange),
    )
  }
  const asked = exchanges.find(({ request }) => request.client_id !== null)
  const used = exchanges.find(({ request }) => request.idp_token !== null)
  if (!asked || !used) return notExercised('No client asked for a token and sent it.')
  return passed(`No URL of ${plural(exchanges.length, 'request')} had a secret or a token.`, [asked, used])
}

/** The forbidden place of a credential; undefined for none. */
function misplacedIn({ request }: RecordedExchange): string | undefined {
  const parameter = request.query.find(
    ([name, value]) => value !== '' && (CREDENTIAL.test(name) || REDACTED.test(value) || REDACTED.test(name)),
  )
  if (parameter) return `the query parameter ${quote(parameter[0])}`
  if (REDACTED.test(request.path)) return 'the path'
  const header = request.headers.find(([name, value]) => value !== '' && SECRET_HEADER.test(name))
  return header && `the header ${quote(header[0])}`
}
