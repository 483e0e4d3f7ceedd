import { CHECKS } from '../domain/check.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { grouped } from '../support/maps.ts'
import type { Check, RecordedExchange, Refusal, ShownToken } from '../traffic/recorded-exchange.ts'
import type { Evidence } from './finding.ts'
import type { ConfigurationCause } from './report.ts'

/** A mistake in a client's set-up, as one refused exchange shows it. */
type SetUpDiagnosis = Pick<ConfigurationCause, 'title' | 'expected' | 'came' | 'fix'>

/** Facts from all exchanges, for diagnosing a single one. */
interface RefusalSurroundings {
  settings: ServiceSettings
  /** Fingerprints of the tokens that the token endpoint issued. */
  issued: ReadonlySet<string>
  /** Issued tokens that a fault spoiled: the set-up is not to blame for their refusal. */
  spoiled: ReadonlySet<string>
  /** Fingerprints of user tokens that were accepted at least once. */
  accepted: ReadonlySet<string>
}

/** A mistake in how a client is set up. */
interface Cause {
  /** A noun phrase. */
  id: string
  /** The check that refuses such a client: a client that passes it is set up correctly. */
  check: Check
  /** Pure. Undefined when the exchange does not show this mistake. */
  diagnose(exchange: RecordedExchange, around: RefusalSurroundings): SetUpDiagnosis | undefined
}

/** Maximum number of characters of a client's text in one line of a report. */
export const LONGEST = 200

/** @returns true if the exchange was refused for one of these aspects, and no fault was involved */
function refusedFor(
  exchange: RecordedExchange,
  { check, aspects }: { check: Check; aspects: readonly string[] },
  { spoiled }: Pick<RefusalSurroundings, 'spoiled'>,
): boolean {
  const { refusal, faults, request } = exchange
  if (refusal === null || refusal.check !== check || faults.length > 0) return false
  if (request.idp_token !== null && spoiled.has(request.idp_token.fingerprint)) return false
  return refusal.aspect !== null && aspects.includes(refusal.aspect)
}

/** A claim or header member in words; `none` if missing. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none')
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

/** A claim of a token; undefined if it is missing or cannot be read. */
function claimOf(token: ShownToken | null, name: string): unknown {
  return token?.claims?.[name]
}

/** Claims that limit the validity of a token, in seconds since 1970. */
const TIMES = ['iat', 'nbf', 'exp'] as const
/** Threshold between times in seconds and in milliseconds: in seconds, it is the year 5138. */
const MILLISECONDS = 1e11

/** The skew of the clock behind a token, if the token was refused because of its times. */
function skewOf({ refusal, began }: RecordedExchange, token: ShownToken, which: string): SetUpDiagnosis | undefined {
  const aspect = refusal?.aspect ?? 'exp'
  const claim = claimOf(token, aspect)
  if (typeof claim !== 'number' || !Number.isFinite(claim)) return undefined
  const expected = `${aspect} ${aspect === 'exp' ? 'after' : 'at or before'} ${began.wall}`
  if (claim > MILLISECONDS)
    return {
      title: `The times in the ${which} are in milliseconds`,
      expected,
      came: `${aspect} ${claim}`,
      fix: 'iat, nbf and exp are seconds since 1970 (RFC 7519 §2): divide by 1,000.',
    }
  const seconds = Math.round(claim - Date.parse(began.wall) / 1000)
  return {
    title: `The clock behind the ${which} is ${aspect === 'exp' ? 'slow, or they are old' : 'fast'}`,
    expected,
    came: `${aspect} ${Math.abs(seconds).toLocaleString('en-US')} s ${seconds > 0 ? 'ahead' : 'ago'}`,
    fix: 'Set the clock of the machine or container that mints them, or mint new ones: tokens go by real time, never by the sandbox clock.',
  }
}

/** The form of the token request is not that of RFC 6749 §4.4 (spec: Identity-provider token 1, 2). */
const tokenRequest: Cause = {
  id: 'token-request',
  check: 'client_credentials',
  diagnose(exchange) {
    const refusal = tokenRefusal(exchange, ['grant_type', 'content-type'])
    if (!refusal) return undefined
    const form = refusal.aspect?.toLowerCase() === 'content-type'
    return {
      title: form ? 'The token request is no form' : 'The token request asks for another grant',
      expected: refusal.expected ?? (form ? 'application/x-www-form-urlencoded' : 'grant_type client_credentials'),
      came: refusal.came ?? 'none',
      fix: form
        ? 'Send the fields of the token request as application/x-www-form-urlencoded, not as JSON.'
        : 'Set grant_type to client_credentials.',
    }
  },
}

/** The refusal by the token endpoint, if it was for one of these aspects and no fault caused it. */
export function tokenRefusal(exchange: RecordedExchange, aspects: readonly string[]): Refusal | undefined {
  const { operation, refusal, faults } = exchange
  if (operation !== 'token' || refusal === null || faults.length > 0) return undefined
  return aspects.includes(refusal.aspect?.toLowerCase() ?? '') ? refusal : undefined
}

/** The token endpoint does not know the application (RFC 6749 §5.2). */
const clientId: Cause = {
  id: 'client-id',
  check: 'client_credentials',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'client_credentials', aspects: ['client_id'] }, around)) return undefined
    return {
      title: 'The client id is not that of a registered application',
      expected: exchange.refusal?.expected ?? 'the client id of a registered application',
      came: `client_id ${shown(exchange.request.client_id)}`,
      fix: 'Use the client id of the credentials: YIELD_CLIENT_ID (client_id of GET /_sandbox/credentials). Each namespace has its own.',
    }
  },
}

/** The token endpoint knows the application, but the secret is wrong (RFC 6749 §5.2). */
const clientSecret: Cause = {
  id: 'client-secret',
  check: 'client_credentials',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'client_credentials', aspects: ['client_secret'] }, around)) return undefined
    const { client_id } = exchange.request
    return {
      title: 'The client secret is wrong',
      expected: client_id === null ? 'client_id and client_secret' : `the secret of ${client_id.slice(0, 100)}`,
      came: exchange.refusal?.came ?? 'another secret',
      fix: 'Use the client secret of the credentials: YIELD_CLIENT_SECRET (client_secret of GET /_sandbox/credentials). In HTTP Basic, id and secret are percent-encoded.',
    }
  },
}

/** The scope is not `<service_audience>/.default` (spec: Identity-provider token 2). */
const tokenScope: Cause = {
  id: 'token-scope',
  check: 'client_credentials',
  diagnose(exchange, { settings }) {
    const refusal = tokenRefusal(exchange, ['scope'])
    if (!refusal) return undefined
    return {
      title: 'The scope of the token request is not that of the service',
      expected: `scope ${refusal.expected ?? `${settings.audience}/.default`}`,
      came: `scope ${refusal.came ?? 'none'}`,
      fix: 'Ask for the scope of the credentials: YIELD_SCOPE (scope of GET /_sandbox/credentials).',
    }
  },
}

const TENANT_ID_FIX =
  'Use the tenant of the credentials in the address of the token endpoint: directory_id of GET /_sandbox/credentials.'

/** The access token has another tenant id than the application. */
const tenantId: Cause = {
  id: 'tenant-id',
  check: 'idp_token',
  diagnose(exchange, around) {
    const inPath = tokenRefusal(exchange, ['tenant_id'])
    if (inPath)
      return {
        title: 'The address of the token endpoint has the id of another tenant',
        expected: inPath.expected ?? 'the tenant of the application',
        came: inPath.came ?? shown(exchange.request.path),
        fix: TENANT_ID_FIX,
      }
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['tid'] }, around)) return undefined
    return {
      title: 'The access tokens are of another tenant than the application',
      expected: `tid ${exchange.refusal?.expected ?? 'of the application'}`,
      came: `tid ${exchange.refusal?.came ?? shown(claimOf(exchange.request.idp_token, 'tid'))}`,
      fix: TENANT_ID_FIX,
    }
  },
}

/** The access token is another identity provider's (assumption: idp-token-issuer). */
const idpTokenIssuer: Cause = {
  id: 'idp-token-issuer',
  check: 'idp_token',
  diagnose(exchange, around) {
    const { refusal, request } = exchange
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['iss', 'kid', 'signature'] }, around)) return undefined
    const issuer = shown(claimOf(request.idp_token, 'iss'))
    return {
      title: "The access tokens are not this sandbox's identity provider's",
      expected: refusal?.expected ?? 'a token of the token endpoint of this sandbox',
      came: `a token with iss ${issuer}`,
      fix: 'Get access tokens from the token endpoint of the credentials: YIELD_AUTH_URL (auth_url of GET /_sandbox/credentials).',
    }
  },
}

/** The access token is for another service (spec: Identity-provider token 6). */
const idpTokenAudience: Cause = {
  id: 'idp-token-audience',
  check: 'idp_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['aud'] }, around)) return undefined
    return {
      title: 'The access tokens are for another audience than the service',
      expected: `aud ${exchange.refusal?.expected ?? around.settings.audience}`,
      came: `aud ${exchange.refusal?.came ?? shown(claimOf(exchange.request.idp_token, 'aud'))}`,
      fix: 'Ask for access tokens with the scope of the credentials: YIELD_SCOPE (scope of GET /_sandbox/credentials).',
    }
  },
}

/** `appid` of the access token matches no tenant (spec: Identity-provider token 4). */
const idpTokenApplication: Cause = {
  id: 'idp-token-application',
  check: 'idp_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['appid'] }, around)) return undefined
    return {
      title: 'The access tokens are of an application that is not registered',
      expected: `appid ${exchange.refusal?.expected ?? 'of a registered application'}`,
      came: `appid ${exchange.refusal?.came ?? shown(claimOf(exchange.request.idp_token, 'appid'))}`,
      fix: 'Get access tokens with the client id and secret of the credentials: YIELD_CLIENT_ID and YIELD_CLIENT_SECRET. Each namespace has its own.',
    }
  },
}

/** The times of access tokens are wrong. Only of tokens that this sandbox did not issue: its own follow its own clock. */
const idpTokenClock: Cause = {
  id: 'idp-token-clock',
  check: 'idp_token',
  diagnose(exchange, around) {
    const { idp_token } = exchange.request
    if (idp_token === null || around.issued.has(idp_token.fingerprint)) return undefined
    if (!refusedFor(exchange, { check: 'idp_token', aspects: TIMES }, around)) return undefined
    return skewOf(exchange, idp_token, 'access tokens')
  },
}

/** `kid` names a key that the tenant did not register (spec: User token 2). A missing one is a finding, not a cause. */
const userTokenKeyId: Cause = {
  id: 'user-token-key-id',
  check: 'user_token',
  diagnose(exchange, around) {
    const { refusal, request } = exchange
    const kid = request.user_token?.header?.kid
    if (typeof kid !== 'string' || kid === '') return undefined
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['kid'] }, around)) return undefined
    return {
      title: 'The user tokens name a key that is not registered',
      expected: `kid ${refusal?.expected ?? 'of a registered key'}`,
      came: `kid ${refusal?.came ?? shown(kid)}`,
      fix: 'Put the key id of the credentials into the header of user tokens: YIELD_KEY_ID (kid of GET /_sandbox/credentials).',
    }
  },
}

/** The signature does not verify: another private key than the registered one (spec: User token 1, 4). */
const userTokenKey: Cause = {
  id: 'user-token-key',
  check: 'user_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['signature'] }, around)) return undefined
    const kid = shown(exchange.request.user_token?.header?.kid)
    return {
      title: 'The user tokens are signed with another private key than the registered one',
      expected: `a signature that the public key ${kid} verifies`,
      came: 'a signature that it does not verify',
      fix: 'Sign user tokens with the private key of the credentials: YIELD_PRIVATE_KEY_PEM (private_key_pem of GET /_sandbox/credentials). In an environment variable, its line breaks must survive.',
    }
  },
}

/** `iss` is not the issuer registered for the tenant (spec: User token 3). */
const userTokenIssuer: Cause = {
  id: 'user-token-issuer',
  check: 'user_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['iss'] }, around)) return undefined
    const { refusal, request } = exchange
    return {
      title: 'The user tokens have another issuer than the one registered',
      expected: `iss ${refusal?.expected ?? 'as registered for the tenant'}`,
      came: `iss ${exchange.refusal?.came ?? shown(claimOf(request.user_token, 'iss'))}`,
      fix: 'Mint user tokens with the issuer of the credentials: YIELD_ISSUER (issuer of GET /_sandbox/credentials).',
    }
  },
}

/** `aud` is not the service audience (spec: User token 3). */
const userTokenAudience: Cause = {
  id: 'user-token-audience',
  check: 'user_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['aud'] }, around)) return undefined
    return {
      title: 'The user tokens are for another audience than the service',
      expected: `aud ${exchange.refusal?.expected ?? around.settings.audience}`,
      came: `aud ${exchange.refusal?.came ?? shown(claimOf(exchange.request.user_token, 'aud'))}`,
      fix: 'Mint user tokens for the audience of the credentials: YIELD_AUDIENCE (audience of GET /_sandbox/credentials).',
    }
  },
}

/** `iat` or `nbf` of the user tokens is in the future, or `exp` has passed although they are new: the client's clock is wrong. */
const userTokenClock: Cause = {
  id: 'user-token-clock',
  check: 'user_token',
  diagnose(exchange, around) {
    const { user_token } = exchange.request
    if (user_token === null || around.accepted.has(user_token.fingerprint)) return undefined
    if (!refusedFor(exchange, { check: 'user_token', aspects: TIMES }, around)) return undefined
    return skewOf(exchange, user_token, 'user tokens')
  },
}

/** Ends of the service's paths, and of the token endpoint's. */
const SERVICE_PATH =
  /(?:\/partner)?(\/(?:pools|end_users(?:\/[^/]+\/(?:portfolios|deposit|withdraw|transactions))?))\/*$/
const TOKEN_PATH = /(?:^|\/)(?:oauth2?(?:\/v2\.0)?\/)?token\/*$/

/** Requests go to unknown paths that end like known ones: the address in front of them is wrong. */
const baseUrl: Cause = {
  id: 'base-url',
  check: 'route',
  diagnose({ operation, refusal, request, faults }, { settings }) {
    if (operation !== null || refusal?.check !== 'route' || refusal.code !== 'not_found' || faults.length > 0) return
    const { path } = request
    const end = SERVICE_PATH.exec(path)
    if (end) {
      const right = `${settings.base_path}/v1/partner`
      const expected = `${right}${end[1]}`
      return { ...told(path.slice(0, end.index), settings.base_path), expected: shown(expected), came: shown(path) }
    }
    if (!TOKEN_PATH.test(path) || request.method !== 'POST') return undefined
    return {
      title: 'Tokens are asked for at an address that is not the token endpoint',
      expected: '/oauth2/token, or /{directory_id}/oauth2/v2.0/token',
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
  const full = quotaCause(exchanges)
  for (const { request_id } of full.refused) explained.add(request_id)
  return { causes: [...full.causes, ...causes], explained }
}

/**
 * Requests that the sandbox refused because its namespace had used up what it may use. The service would have carried them out, so
 * nothing is proved beside them, however many others came.
 */
function quotaCause(exchanges: Evidence['exchanges']): { causes: ConfigurationCause[]; refused: RecordedExchange[] } {
  const refused = exchanges.filter(({ refusal }) => refusal?.check === 'quota')
  const last = refused.at(-1)
  if (!last) return { causes: [], refused }
  const cause: ConfigurationCause = {
    id: 'namespace-quota',
    title: 'The quota of the namespace refused requests, which the service would not have done',
    expected: 'requests within the quota of the namespace',
    came: last.refusal?.detail ?? last.request_id,
    fix: 'Start the sandbox with a larger quota (--quota-requests-per-second, --quota-ledger-bytes), or reset the namespace, and run it again.',
    blocking: true,
    count: refused.length,
    request_ids: refused.slice(0, NAMED).map(({ request_id }) => request_id),
  }
  return { causes: [cause], refused }
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
