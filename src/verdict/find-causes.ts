import { CHECKS } from '../domain/check.ts'
import { grouped } from '../support/maps.ts'
import type { Check, RecordedExchange } from '../traffic/recorded-exchange.ts'
import { type Cause, type RefusalSurroundings, type SetUpDiagnosis, shown } from './configuration/cause.ts'
import {
  clientId,
  clientSecret,
  idpTokenApplication,
  idpTokenAudience,
  idpTokenClock,
  idpTokenIssuer,
  tenantId,
  tokenRequest,
  tokenScope,
  userTokenAudience,
  userTokenClock,
  userTokenIssuer,
  userTokenKey,
  userTokenKeyId,
} from './configuration/token-causes.ts'
import type { Evidence } from './finding.ts'
import type { ConfigurationCause } from './report.ts'

/** Ends of the service's paths, and of the token endpoint's. */
const SERVICE = /(?:\/partner)?(\/(?:pools|end_users(?:\/[^/]+\/(?:portfolios|deposit|withdraw|transactions))?))\/*$/
const TOKEN = /(?:^|\/)(?:oauth2?(?:\/v2\.0)?\/)?token\/*$/

/** Requests go to unknown paths that end like known ones: the address in front of them is wrong. */
const baseUrl: Cause = {
  id: 'base-url',
  check: 'route',
  diagnose({ operation, refusal, request, faults }, { settings }) {
    if (operation !== null || refusal?.check !== 'route' || refusal.code !== 'not_found' || faults.length > 0) return
    const { path } = request
    const end = SERVICE.exec(path)
    if (end) {
      const right = `${settings.base_path}/v1/partner`
      const expected = `${right}${end[1]}`
      return { ...told(path.slice(0, end.index), settings.base_path), expected: shown(expected), came: shown(path) }
    }
    if (!TOKEN.test(path) || request.method !== 'POST') return undefined
    return {
      title: 'Tokens are asked for at an address that is not the token endpoint',
      expected: '/oauth2/token, or /{tenant_id}/oauth2/v2.0/token',
      came: shown(path),
      fix: 'Use the address of the credentials: YIELD_AUTH_URL (auth_url of GET /_sandbox/credentials), as it stands.',
    }
  },
}

/** Explains the wrong prefix. */
function told(prefix: string, basePath: string): { title: string; fix: string } {
  const name = 'YIELD_BASE_URL (base_url of GET /_sandbox/credentials)'
  const own = prefix.replace(/\/+/g, '/').replace(/\/$/, '')
  if (own === '' || own === basePath)
    return {
      title: 'The paths of the requests lack /v1/partner or a part of it',
      fix: `Add /v1/partner/… to ${name}: it ends before /v1.`,
    }
  if (own.endsWith('/v1/v1'))
    return {
      title: 'The paths of the requests have /v1 twice',
      fix: `Take /v1 away from the base URL, or from the paths added to it; ${name} ends before /v1.`,
    }
  return {
    title: 'The base URL of the service is wrong',
    fix: `Use ${name}, and add /v1/partner/… to it.`,
  }
}

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
