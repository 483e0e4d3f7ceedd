import { CHECKS } from '../domain/check.ts'
import { grouped } from '../support/maps.ts'
import type { Check, RecordedExchange } from '../traffic/recorded-exchange.ts'
import { baseUrl } from './configuration/base-url.ts'
import type { Cause, RefusalSurroundings, SetUpDiagnosis } from './configuration/cause.ts'
import {
  idpTokenApplication,
  idpTokenAudience,
  idpTokenClock,
  idpTokenIssuer,
} from './configuration/idp-token-causes.ts'
import { clientId, clientSecret, tenantId, tokenRequest, tokenScope } from './configuration/token-request-causes.ts'
import {
  userTokenAudience,
  userTokenClock,
  userTokenIssuer,
  userTokenKey,
  userTokenKeyId,
} from './configuration/user-token-causes.ts'
import type { Evidence } from './finding.ts'
import type { ConfigurationCause } from './report.ts'

/** Mistakes in the clients' set-up, and the exchanges that they explain. */
export interface Causes {
  causes: ConfigurationCause[]
  /** Request ids of refusals that a cause explains: findings do not judge them. */
  explained: ReadonlySet<string>
}

/** Maximum number of exchanges that a cause names. */
const NAMED = 3

/** Checks in the order in which a request meets them; `fault` is left out, since it can strike anywhere. */
const WAY: readonly Check[] = CHECKS.filter((check) => check !== 'fault')

/**
 * Finds causes. A cause counts only if no request of that client got past the check after the last refusal that points to it: a suite
 * that tests a wrong secret, and goes on, is set up correctly.
 */
export function findCauses({ exchanges, settings }: Evidence): Causes {
  const around = surroundingsOf(exchanges, settings)
  const explained = new Set<string>()
  const causes = CAUSES.flatMap((cause) => {
    const pointing = exchanges.flatMap((exchange) => {
      const diagnosis = cause.diagnose(exchange, around)
      return diagnosis ? [{ exchange, diagnosis }] : []
    })
    const clients = grouped(pointing, ({ exchange }) => exchange.tenant)
    return [...clients.values()].flatMap((refused) => {
      const found = judged(cause, refused, exchanges)
      if (!found) return []
      for (const { exchange } of refused) explained.add(exchange.request_id)
      return [found]
    })
  })
  return { causes, explained }
}

interface Pointing {
  exchange: RecordedExchange
  diagnosis: SetUpDiagnosis
}

function judged(
  { id, check }: Cause,
  refused: Pointing[],
  exchanges: Evidence['exchanges'],
): ConfigurationCause | undefined {
  const last = refused.at(-1)
  if (!last) return undefined
  const { tenant, number } = last.exchange
  const past = exchanges.filter(
    (one) => (one.tenant === tenant || one.tenant === null || tenant === null) && gotPast(one, check),
  )
  if (past.some((one) => one.number > number)) return undefined
  return {
    id,
    ...last.diagnosis,
    blocking: past.length === 0,
    count: refused.length,
    request_ids: refused.slice(0, NAMED).map(({ exchange }) => exchange.request_id),
  }
}

/** @returns true if the exchange shows that its client passes this check */
function gotPast({ operation, refusal, response, request }: RecordedExchange, check: Check): boolean {
  if (operation === null) return false
  if (check === 'route') return true
  const good = refusal === null && response !== null && response.status < 400
  if (check === 'client_credentials') return operation === 'token' && good
  if (operation === 'token') return false
  if (check === 'user_token' && (operation === 'list_pools' || request.user_token === null)) return false
  return good || (refusal !== null && WAY.indexOf(refusal.check) > WAY.indexOf(check))
}

function surroundingsOf(exchanges: Evidence['exchanges'], settings: Evidence['settings']): RefusalSurroundings {
  const issued = new Set<string>()
  const spoiled = new Set<string>()
  const accepted = new Set<string>()
  for (const exchange of exchanges) {
    const { response, request, faults } = exchange
    const fingerprint = response?.issued?.token.fingerprint
    if (fingerprint !== undefined) {
      issued.add(fingerprint)
      if (faults.length > 0) spoiled.add(fingerprint)
    }
    if (request.user_token !== null && gotPast(exchange, 'user_token')) accepted.add(request.user_token.fingerprint)
  }
  return { settings, issued, spoiled, accepted }
}

/** Every cause, in the order in which a request meets the checks. A new one is defined beside those of its token, and listed here. */
const CAUSES: readonly Cause[] = [
  baseUrl,
  tokenRequest,
  clientId,
  clientSecret,
  tokenScope,
  idpTokenIssuer,
  idpTokenAudience,
  idpTokenApplication,
  tenantId,
  idpTokenClock,
  userTokenKeyId,
  userTokenKey,
  userTokenIssuer,
  userTokenAudience,
  userTokenClock,
]
