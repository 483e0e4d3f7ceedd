import { grouped } from '../../support/maps.ts'
import { headersOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

/** Minimum number of requests on one connection that show reuse. */
const KEPT = 5

export const connectionReuse: Finding = {
  id: 'connection-reuse',
  title: 'Connections are kept for further requests',
  failureTitle: 'Each request opens a connection and closes it: requests are slow, and ports run out under load',
  rule: 'HTTP/1.1 (RFC 9112 §9.3): connections persist unless one side says Connection: close. Deposits and withdrawals hold theirs for up to a minute.',
  impact: 'minor',
  consequence:
    'Every request waits for a TCP and a TLS handshake first, a tenth of a second or more; under load the client runs out of ports.',
  situation: `${KEPT} requests of one process`,
  exerciseWith: '',
  fix: 'Use one HTTP client with keep-alive for all requests: an Agent with keepAlive in Node, a Session in Python, and no Connection: close.',
  wrongClients: ['connection-per-request'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const closing = exchanges.filter(asksToClose)
  const connections = grouped(exchanges, ({ connection }) => connection)
  const [first, second] = closing
  // A few such requests prove nothing: the last request of each process may ask for it.
  if (first && second && closing.length * 2 > exchanges.length) {
    const facts = `${closing.length} of ${plural(exchanges.length, 'request')} asked for the connection to be closed afterwards.`
    return failed(facts, { expected: 'connections that stay open', came: 'Connection: close' }, [first, second])
  }
  const longest = [...connections.values()].reduce<readonly RecordedExchange[]>(
    (one, other) => (other.length > one.length ? other : one),
    [],
  )
  if (longest.length >= KEPT) {
    const explanation = `${plural(longest.length, 'request')} came on one connection; there were ${plural(connections.size, 'connection')}.`
    return passed(explanation, longest.slice(0, 2))
  }
  if (exchanges.length < KEPT) return notExercised(`There were ${plural(exchanges.length, 'request')}.`)
  const reason = `${plural(exchanges.length, 'request')} came on ${plural(connections.size, 'connection')}. Processes that send one request each, such as a shell script, look the same as a client that keeps no connection.`
  return needsReview(reason, exchanges.slice(0, 2))
}

function asksToClose({ request }: RecordedExchange): boolean {
  return headersOf(request.headers, 'connection').some((value) => value.toLowerCase().split(/[\s,]/).includes('close'))
}
