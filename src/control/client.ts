import { SandboxClock } from '../domain/clock.ts'
import type { ParameterFault } from '../domain/errors.ts'
import { suggest } from '../support/nearest.ts'
import type {
  ActiveFault,
  AuditReport,
  ClockMove,
  ClockState,
  Credentials,
  FaultRule,
  Health,
  MintedToken,
  MovedClock,
  Readiness,
  ScenarioFile,
  ScenarioList,
  ScenarioRun,
  StoppedScenario,
  Stopping,
  TenantCredentials,
  TokenWish,
} from './contract.ts'

/** What went wrong at the control interface, beside the message. */
export interface ControlErrorDetails extends ErrorOptions {
  code: string
  status?: number | undefined
  errors?: readonly ParameterFault[] | undefined
}

/** A sandbox that could not be reached or refused; the message says which and what to do. */
export class ControlError extends Error {
  override readonly name: string = 'ControlError'
  /** `sandbox_unreachable`, `unexpected_answer`, `sandbox_starting`, or another code of the sandbox's own errors. */
  readonly code: string
  /** Status of the sandbox's answer; undefined when there was none. */
  readonly status: number | undefined
  /** Every parameter at fault, when the sandbox named some. */
  readonly errors: readonly ParameterFault[]

  constructor(message: string, { code, status, errors = [], ...options }: ControlErrorDetails) {
    super(message, options)
    this.code = code
    this.status = status
    this.errors = errors
  }
}

/** A sandbox that found something wrong with what was asked for; the message is its own, a line for each fault. */
export class RefusedError extends ControlError {
  override readonly name = 'RefusedError'
}

/** How a minted token is to differ from a good one. */
export type MintingWish = TokenWish & { tenant?: string | undefined }

/** Milliseconds: between two questions whether it is gone, and until it counts as a failure. */
const PAUSE_MS = 50
const PATIENCE_MS = 30_000

type Method = 'GET' | 'POST' | 'DELETE'

/** Typed client of the control interface. Every method throws ControlError. */
export class ControlClient {
  readonly #url: string
  readonly #token: string | undefined
  readonly #fetch: typeof fetch

  /** `url` is the origin of the sandbox; `localhost:4010` will do. */
  constructor(url: string, controlToken?: string, fetchFn: typeof fetch = fetch) {
    this.#url = originOf(url)
    this.#token = controlToken
    this.#fetch = fetchFn
  }

  /** Everything a client needs to connect. */
  credentials(): Promise<Credentials> {
    return this.#call<Credentials>('GET', '/_sandbox/credentials')
  }

  health(): Promise<Health> {
    return this.#call<Health>('GET', '/_sandbox/health')
  }

  /** Whether it can serve, and why not. */
  async readiness(): Promise<Readiness> {
    const { status, text } = await this.#send('GET', '/_sandbox/ready')
    const state = stateIn(text)
    if (state) return state
    throw this.#failure('/_sandbox/ready', status, text)
  }

  /** Whether anything answers. */
  answers(): Promise<boolean> {
    return this.#send('GET', '/_sandbox/health').then(
      () => true,
      () => false,
    )
  }

  /** Ends the sandbox; resolves when nothing answers any more. */
  async stop(): Promise<void> {
    await this.#call<Stopping>('POST', '/_sandbox/stop')
    const clock = new SandboxClock()
    const deadline = clock.wallNow() + PATIENCE_MS
    while (await this.answers()) {
      if (clock.wallNow() >= deadline) {
        throw new ControlError(`${this.#url} was told to stop and still answers`, { code: 'unexpected_answer' })
      }
      await clock.sleep(PAUSE_MS)
    }
  }

  /** Back to the fixtures. */
  reset(): Promise<Readiness> {
    return this.#call<Readiness>('POST', '/_sandbox/reset')
  }

  /** Whether API, ledger and chain agree. */
  audit(): Promise<AuditReport> {
    return this.#call<AuditReport>('GET', '/_sandbox/audit')
  }

  clock(): Promise<ClockState> {
    return this.#call<ClockState>('GET', '/_sandbox/clock')
  }

  moveClock(move: ClockMove): Promise<MovedClock> {
    return this.#call<MovedClock>('POST', '/_sandbox/clock', move)
  }

  faults(): Promise<ActiveFault[]> {
    return this.#call<ActiveFault[]>('GET', '/_sandbox/faults')
  }

  /** Puts rules in force, all or none. */
  addFaults(rules: readonly FaultRule[]): Promise<ActiveFault[]> {
    return this.#call<ActiveFault[]>('POST', '/_sandbox/faults', rules)
  }

  clearFaults(): Promise<void> {
    return this.#call<void>('DELETE', '/_sandbox/faults')
  }

  removeFault(id: string): Promise<void> {
    return this.#call<void>('DELETE', `/_sandbox/faults/${encodeURIComponent(id)}`)
  }

  scenarios(): Promise<ScenarioList> {
    return this.#call<ScenarioList>('GET', '/_sandbox/scenarios')
  }

  /** Starts a shipped scenario by its name, or one of the caller's own. */
  startScenario(scenario: string | ScenarioFile): Promise<ScenarioRun> {
    return typeof scenario === 'string'
      ? this.#call<ScenarioRun>('POST', `/_sandbox/scenarios/${encodeURIComponent(scenario)}/start`)
      : this.#call<ScenarioRun>('POST', '/_sandbox/scenarios', scenario)
  }

  stopScenario(): Promise<StoppedScenario> {
    return this.#call<StoppedScenario>('POST', '/_sandbox/scenarios/stop')
  }

  /** A user token of the tenant, the first one if none is named. */
  async userToken(external_id: string, { tenant, ...wish }: MintingWish = {}): Promise<string> {
    const { slug } = await this.#tenant(tenant)
    const path = `/_sandbox/tenants/${encodeURIComponent(slug)}/user_tokens`
    return (await this.#call<MintedToken>('POST', path, { ...wish, external_id })).token
  }

  /** An identity-provider token of the tenant, the first one if none is named. */
  async idpToken({ tenant, ...wish }: MintingWish = {}): Promise<string> {
    const { slug } = await this.#tenant(tenant)
    const path = `/_sandbox/tenants/${encodeURIComponent(slug)}/idp_tokens`
    return (await this.#call<MintedToken>('POST', path, wish)).token
  }

  async #tenant(slug: string | undefined): Promise<TenantCredentials> {
    const { tenants } = await this.credentials()
    const tenant = slug === undefined ? tenants[0] : tenants.find((candidate) => candidate.slug === slug)
    if (tenant) return tenant
    const slugs = tenants.map((one) => one.slug)
    throw new RefusedError(`there is no tenant "${slug ?? ''}"; ${suggest(slug ?? '', slugs)}`, {
      code: 'tenant_not_found',
    })
  }

  async #call<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.#send(method, path, body)
    if (status >= 400) throw this.#failure(path, status, text)
    return JSON.parse(text || 'null')
  }

  async #send(method: Method, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    try {
      const response = await this.#fetch.call(undefined, `${this.#url}${path}`, init)
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      throw new ControlError(whyUnreachable(this.#url, codeOf(cause)), { code: 'sandbox_unreachable', cause })
    }
  }

  #failure(path: string, status: number, text: string): ControlError {
    const problem = problemIn(text)
    const details = { code: problem?.code ?? 'unexpected_answer', status, errors: problem?.errors }
    if (problem && REFUSALS.has(status)) return new RefusedError(problem.message, details)
    return new ControlError(
      `${this.#url}${path} answered ${status}: ${problem?.message ?? text.slice(0, 500)}`,
      details,
    )
  }
}

/** A URL as people write it: `localhost:4010` will do. Throws ControlError. */
export function originOf(text: string): string {
  const url = text.includes('://') ? text : `http://${text}`
  if (/^https?:/i.test(url) && URL.canParse(url)) return url.replace(/\/+$/, '')
  throw new ControlError(`"${text}" is not a URL such as http://127.0.0.1:4010`, { code: 'invalid_url' })
}

/** The code of what went wrong; `fetch` hides it in the cause. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return typeof code === 'string' ? code : cause instanceof Error ? codeOf(cause) : ''
}

function whyUnreachable(url: string, code: string): string {
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    const fix = 'name the file of its CA with --ca (or NODE_EXTRA_CA_CERTS); a self-signed sandbox prints it at start'
    return `the certificate at ${url} is not trusted (${code}); ${fix}`
  }
  if (/SSL|EPROTO/.test(code)) return `${url} does not speak https (${code}); give --url with http://`
  // What a server that speaks TLS does with a request in plain text.
  if (/ECONNRESET|UND_ERR_SOCKET|HPE_/.test(code)) {
    return `what is at ${url} closed the connection (${code}); if the sandbox serves https, give --url with https://`
  }
  return `no sandbox answers at ${url}; start one, or name another with --url`
}

/** What was asked for is wrong, or is not there. */
const REFUSALS = new Set([400, 404, 422])

/** What a sandbox says of its readiness; nothing when this is none. */
function stateIn(text: string): Readiness | undefined {
  try {
    const state = JSON.parse(text)
    return typeof state?.ready === 'boolean' ? state : undefined
  } catch {
    return undefined
  }
}

/** What a problem body says; the message has a line for each fault. */
function problemIn(text: string): { code: string; message: string; errors: ParameterFault[] } | undefined {
  try {
    const { code, detail, param, errors } = JSON.parse(text)
    if (typeof code !== 'string' || typeof detail !== 'string') return undefined
    if (!Array.isArray(errors)) return { code, message: detail, errors: param ? [{ param, detail }] : [] }
    return { code, message: errors.map((one) => `${one.param}: ${one.detail}`).join('\n'), errors }
  } catch {
    return undefined
  }
}
