import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { beganAt, endedAt } from '../evidence/answers.ts'
import { idpTokenOf, idpTokens, isFetch, LAST_MINUTE, requestSignature } from '../evidence/tokens.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

/** Milliseconds: any client with a cache would have used a token that is valid for longer. */
const GOOD_FOR = LAST_MINUTE + 10_000

export const idpTokenReuse: Finding = {
  id: 'idp-token-reuse',
  title: 'An access token is used for many requests',
  failureTitle:
    'An access token is obtained for every request: requests are slow, and the identity provider will limit them',
  rule: 'Identity-provider token, rule 3: "Clients cache the token until 60 seconds before expiry."',
  impact: 'minor',
  consequence:
    'Every request takes twice as long, and identity providers limit how many tokens an application may ask for.',
  situation: 'several requests of one process',
  exerciseWith: '',
  fix: 'Keep the access token in a variable that all requests share, and obtain another one when less than 60 seconds are left.',
  wrongClients: ['token-per-request'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const fetches = exchanges.filter(isFetch)
  const tokens = idpTokens(exchanges)
  const shared = [...tokens.values()].find((token) => requestsIn(token.uses) > token.fetches.length)
  const needless = needlessFetches(exchanges)
  const uses = [...tokens.values()].flatMap((token) => token.uses)
  const requests = requestsIn(uses)
  if (requests < 2) return notExercised('No client obtained a token and sent two requests.')

  const facts = `${plural(fetches.length, 'token')} for ${plural(requests, 'request')}`
  const [first, second] = needless
  // A suite that makes a client per test fetches often, too, but each token serves a few requests.
  const perRequest = fetches.length * 5 >= requests * 4
  if (first && second && perRequest) {
    const explanation = `${facts}; ${needless.length} were obtained by a process that had one with more than 60 s to live.`
    return failed(explanation, { expected: 'one token for all requests', came: facts }, [first, second])
  }
  if (first) {
    const reason = `${facts}; ${needless.length} were obtained on a connection that had seen one with more than 60 s to live. Fresh client objects of one process, such as a test suite's, look the same.`
    return needsReview(reason, needless.slice(0, 2))
  }
  if (shared && !perRequest) {
    return passed(`${facts}; none was obtained while its process had a good one.`, [
      ...shared.fetches.slice(0, 1),
      ...shared.uses.slice(0, 2),
    ])
  }
  const reason = `${facts}. They came on different connections, so that each may be of a process of its own; traffic does not show it.`
  return needsReview(reason, fetches.slice(0, 2))
}

/** Number of requests, without repetitions. */
function requestsIn(uses: readonly RecordedExchange[]): number {
  return new Set(uses.map((use) => use.idempotency?.key ?? `${requestSignature(use)} ${use.connection} ${use.number}`))
    .size
}

/** Token requests on a connection that had already obtained or used a good token. */
function needlessFetches(exchanges: readonly RecordedExchange[]): RecordedExchange[] {
  const tokens = idpTokens(exchanges)
  /** Times at which each process got its tokens, by connection and tenant, then by fingerprint. */
  const had = new Map<string, Map<string, number>>()
  const refused = new Map<string, number>()
  const isGood = (fingerprint: string, at: number) => {
    const token = tokens.get(fingerprint)
    if (!token || token.spoiled || (refused.get(fingerprint) ?? Number.POSITIVE_INFINITY) <= at) return false
    return token.expiresAt - at > GOOD_FOR
  }
  const hasGood = (known: Map<string, number>, at: number) => {
    for (const [fingerprint, since] of known) {
      // A token that is too old stays so.
      if (!isGood(fingerprint, at)) known.delete(fingerprint)
      else if (since <= at) return true
    }
    return false
  }
  return exchanges.filter((exchange) => {
    const fingerprint = idpTokenOf(exchange)
    const process = `${exchange.connection} ${exchange.tenant}`
    const known = had.get(process) ?? new Map<string, number>()
    const began = beganAt(exchange)
    const needless = isFetch(exchange) && hasGood(known, began)
    if (fingerprint === undefined) return false
    const isUse = exchange.operation !== 'token'
    if (isUse && exchange.response?.status === 401 && !refused.has(fingerprint))
      refused.set(fingerprint, endedAt(exchange))
    if (isUse || isFetch(exchange)) {
      const since = isUse ? began : endedAt(exchange)
      known.set(fingerprint, Math.min(since, known.get(fingerprint) ?? Infinity))
      had.set(process, known)
    }
    return needless
  })
}
