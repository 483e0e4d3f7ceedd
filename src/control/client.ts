import type {
  ActiveFault,
  AuditReport,
  ClockMove,
  ClockState,
  Credentials,
  FaultRule,
  Health,
  MintedToken,
  Readiness,
  Scenario,
  ScenarioList,
  ScenarioRun,
  StoppedScenario,
  Stopping,
  TenantCredentials,
} from './contract.ts'

/** A sandbox that could not be reached or refused; the message says which and what to do. */
export class ControlError extends Error {
  override readonly name: string = 'ControlError'
}

/** A sandbox that found something wrong with what was asked for; the message is its own, a line for each fault. */
export class RefusedError extends ControlError {
  override readonly name = 'RefusedError'
}

/** Typed client of the control interface. Every method throws ControlError. */
export class ControlClient {
  readonly #url: string
  readonly #token: string | undefined

  constructor(url: string, controlToken?: string) {
    this.#url = url.replace(/\/+$/, '')
    this.#token = controlToken
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

  /** Ends the sandbox; resolves when it begins to. */
  stop(): Promise<Stopping> {
    return this.#call<Stopping>('POST', '/_sandbox/stop')
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

  moveClock(move: ClockMove): Promise<ClockState> {
    return this.#call<ClockState>('POST', '/_sandbox/clock', move)
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
  startScenario(scenario: string | Scenario): Promise<ScenarioRun> {
    return typeof scenario === 'string'
      ? this.#call<ScenarioRun>('POST', `/_sandbox/scenarios/${encodeURIComponent(scenario)}/start`)
      : this.#call<ScenarioRun>('POST', '/_sandbox/scenarios', scenario)
  }

  stopScenario(): Promise<StoppedScenario> {
    return this.#call<StoppedScenario>('POST', '/_sandbox/scenarios/stop')
  }

  /** A user token of the tenant, the first one if none is named. */
  async userToken(external_id: string, slug?: string): Promise<string> {
    const tenant = await this.#tenant(slug)
    const path = `/_sandbox/tenants/${encodeURIComponent(tenant.slug)}/user_tokens`
    return (await this.#call<MintedToken>('POST', path, { external_id })).token
  }

  /** An identity-provider token of the tenant, the first one if none is named. */
  async idpToken(slug?: string): Promise<string> {
    const tenant = await this.#tenant(slug)
    const path = `/_sandbox/tenants/${encodeURIComponent(tenant.slug)}/idp_tokens`
    return (await this.#call<MintedToken>('POST', path, {})).token
  }

  async #tenant(slug: string | undefined): Promise<TenantCredentials> {
    const { tenants } = await this.credentials()
    const tenant = slug === undefined ? tenants[0] : tenants.find((candidate) => candidate.slug === slug)
    if (tenant) return tenant
    throw new ControlError(`there is no tenant "${slug ?? ''}"; there are ${tenants.map((one) => one.slug).join(', ')}`)
  }

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.#send(method, path, body)
    if (status >= 400) throw this.#failure(path, status, text)
    return JSON.parse(text || 'null')
  }

  async #send(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    try {
      const response = await fetch(`${this.#url}${path}`, init)
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      throw new ControlError(`no sandbox answers at ${this.#url}; start one, or name another with --url`, { cause })
    }
  }

  #failure(path: string, status: number, text: string): ControlError {
    const detail = detailOf(text)
    if (detail !== undefined && REFUSALS.has(status)) return new RefusedError(detail)
    return new ControlError(`${this.#url}${path} answered ${status}: ${detail ?? text.slice(0, 500)}`)
  }
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

/** What a problem body says, a line for each fault. */
function detailOf(text: string): string | undefined {
  try {
    const { detail, errors } = JSON.parse(text)
    if (!Array.isArray(errors)) return typeof detail === 'string' ? detail : undefined
    return errors.map((one) => `${one.param}: ${one.detail}`).join('\n')
  } catch {
    return undefined
  }
}
