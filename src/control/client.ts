import { SandboxClock } from '../domain/clock.ts'
import { NAMESPACE_NAME } from '../domain/namespace-name.ts'
import type { CommandEnding } from '../oracle/outcome.ts'
import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'
import type {
  ActiveFault,
  AnsweredConclusion,
  AuditedMoney,
  AuditReport,
  ClockMove,
  ClockState,
  Credentials,
  ExchangePage,
  ExchangeQuery,
  ExplainedExchange,
  FaultRule,
  Guest,
  GuestWish,
  Har,
  Health,
  InspectorPoll,
  MintedToken,
  MoneyOverview,
  MoneyQuery,
  MovedClock,
  NamespaceSummary,
  NamespaceWish,
  NextExchange,
  NextExchangeQuery,
  OperationDetail,
  OperationPage,
  Readiness,
  Report,
  ReportWish,
  ScenarioFile,
  ScenarioList,
  ScenarioRun,
  StoppedScenario,
  Stopping,
  TenantCredentials,
  TokenChanges,
  TransactionDetail,
  TransactionPage,
  TransactionQuery,
  Usage,
} from './contract.ts'
import { ControlConnection } from './control-connection.ts'
import { ControlError, RefusedError } from './control-error.ts'

/** Tenant of a minted token, and its differences from a good one. */
export type MintingWish = TokenChanges & { tenant?: string | undefined }

/** Milliseconds between two checks whether the sandbox has stopped, and until the stop counts as failed. */
const PAUSE_MS = 50
const PATIENCE_MS = 30_000

/** Options of a {@link ControlClient} beside the URL. */
export interface ControlClientOptions {
  controlToken?: string | undefined
  fetch?: typeof fetch
  /** The namespace to control; default: the one that every sandbox has. */
  namespace?: string | undefined
}

/** Typed client of the control interface. Every method throws ControlError. */
export class ControlClient {
  readonly #connection: ControlConnection
  readonly #namespace: string | undefined
  /** Path of the routes that every namespace has. */
  readonly #base: string

  /** URL of the sandbox: `http://localhost:4010`. */
  get origin(): string {
    return this.#connection.url
  }

  /** `url` is the origin of the sandbox; a scheme is optional: `localhost:4010`. Without a namespace it controls the default one. */
  constructor(url: string, { controlToken, fetch: fetchFn = fetch, namespace }: ControlClientOptions = {}) {
    this.#connection = new ControlConnection(originOf(url), controlToken, fetchFn)
    this.#namespace = namespace
    this.#base = namespace === undefined ? '/_sandbox' : pathOf(namespace)
  }

  /** A client for one of the sandbox's namespaces, with the namespace's own control token if one is given. */
  in(namespace: string, ownToken?: string): ControlClient {
    const { url, token, fetch: fetchFn } = this.#connection
    return new ControlClient(url, { controlToken: ownToken ?? token, fetch: fetchFn, namespace })
  }

  namespaces(): Promise<NamespaceSummary[]> {
    return this.#connection.call<NamespaceSummary[]>('GET', '/_sandbox/namespaces')
  }

  /** Creates a namespace. Requests with its credentials reach it. */
  createNamespace(wish: NamespaceWish = {}): Promise<Credentials> {
    return this.#connection.call<Credentials>('POST', '/_sandbox/namespaces', wish)
  }

  /** Deletes a namespace; requests that it holds are answered 503. */
  async deleteNamespace(name: string): Promise<void> {
    await this.#connection.call<void>('DELETE', pathOf(name))
  }

  usage(): Promise<Usage> {
    return this.#connection.call<Usage>('GET', '/_sandbox/usage')
  }

  /** Makes a sandbox within this one. */
  createGuest(wish: GuestWish): Promise<Guest> {
    return this.#connection.call<Guest>('POST', '/_sandbox/guests', wish)
  }

  /** Ends the run of a client in the namespace, and returns what a verdict is made from. */
  conclude(end: CommandEnding): Promise<AnsweredConclusion> {
    return this.#connection.call<AnsweredConclusion>('POST', `${this.#base}/conclusion`, { end })
  }

  /** All money by ledger and chain, with an audit. */
  auditedMoney(): Promise<AuditedMoney> {
    return this.#connection.call<AuditedMoney>('GET', `${this.#base}/audited_money`)
  }

  /** Credentials and URLs that a client needs to connect. */
  credentials(): Promise<Credentials> {
    return this.#connection.call<Credentials>('GET', `${this.#base}/credentials`)
  }

  health(): Promise<Health> {
    return this.#connection.call<Health>('GET', '/_sandbox/health')
  }

  /** Reports if the sandbox can serve, and if not, the reason. */
  async readiness(): Promise<Readiness> {
    const { status, text } = await this.#connection.send('GET', '/_sandbox/ready')
    const state = stateIn(text)
    if (!state) throw this.#connection.failure('/_sandbox/ready', status, text)
    return state.ready && this.#namespace !== undefined ? this.#readinessOf(this.#namespace) : state
  }

  async #readinessOf(namespace: string): Promise<Readiness> {
    const { ready, reason } = await this.#connection.call<NamespaceSummary>('GET', pathOf(namespace))
    return { ready, ...(reason !== undefined && { reason }) }
  }

  /** @returns true if anything answers at the URL */
  answers(): Promise<boolean> {
    return this.#connection.send('GET', '/_sandbox/health').then(
      () => true,
      () => false,
    )
  }

  /** Asks the sandbox to end, and does not wait until it has. */
  async beginStop(): Promise<void> {
    await this.#connection.call<Stopping>('POST', '/_sandbox/stop')
  }

  /** Announces the origin that clients see. */
  announce(public_url: string): Promise<{ public_url: string }> {
    return this.#connection.call('PUT', '/_sandbox/public_url', { public_url })
  }

  /** Ends the sandbox with all of its namespaces; resolves when nothing answers any more. */
  async stop(): Promise<void> {
    await this.beginStop()
    const clock = new SandboxClock()
    const deadline = clock.wallNow() + PATIENCE_MS
    while (await this.answers()) {
      if (clock.wallNow() >= deadline) {
        throw new ControlError(`${this.#connection.url} was told to stop and still answers`, {
          code: 'unexpected_answer',
        })
      }
      await clock.sleep(PAUSE_MS)
    }
  }

  /** Resets the namespace to its fixtures. */
  reset(): Promise<Readiness> {
    return this.#connection.call<Readiness>('POST', `${this.#base}/reset`)
  }

  /** The state of the namespace as text, with which a namespace or a sandbox can begin. */
  async snapshot(): Promise<string> {
    const path = `${this.#base}/snapshot`
    const { status, text } = await this.#connection.send('POST', path)
    if (status !== 200) throw this.#connection.failure(path, status, text)
    return text
  }

  /** Audits the namespace: API, ledger and chain must agree. */
  audit(): Promise<AuditReport> {
    return this.#connection.call<AuditReport>('GET', `${this.#base}/audit`)
  }

  /** The money of the end users, the pools, and the money that operations moved beyond what was asked for. */
  money(query: MoneyQuery = {}): Promise<MoneyOverview> {
    return this.#connection.call<MoneyOverview>('GET', `${this.#base}/money${searchOf({ ...query })}`)
  }

  /** Transactions of a chain in words, newest first. */
  transactions(query: TransactionQuery = {}): Promise<TransactionPage> {
    return this.#connection.call<TransactionPage>('GET', `${this.#base}/transactions${searchOf({ ...query })}`)
  }

  /** One transaction in words. */
  transaction(hash: string): Promise<TransactionDetail> {
    return this.#connection.call<TransactionDetail>('GET', `${this.#base}/transactions/${encodeURIComponent(hash)}`)
  }

  /** Report on the namespace's clients. */
  report({ require = [], ended, end }: ReportWish = {}): Promise<Report> {
    const query = new URLSearchParams({
      ...(require.length > 0 && { require: require.join(',') }),
      ...(ended !== undefined && { ended: String(ended) }),
      ...(end !== undefined && { end }),
    })
    return this.#connection.call<Report>('GET', `${this.#base}/report?${query}`)
  }

  clock(): Promise<ClockState> {
    return this.#connection.call<ClockState>('GET', `${this.#base}/clock`)
  }

  moveClock(move: ClockMove): Promise<MovedClock> {
    return this.#connection.call<MovedClock>('POST', `${this.#base}/clock`, move)
  }

  faults(): Promise<ActiveFault[]> {
    return this.#connection.call<ActiveFault[]>('GET', `${this.#base}/faults`)
  }

  /** Puts rules in force, all or none. */
  addFaults(rules: readonly FaultRule[]): Promise<ActiveFault[]> {
    return this.#connection.call<ActiveFault[]>('POST', `${this.#base}/faults`, rules)
  }

  clearFaults(): Promise<void> {
    return this.#connection.call<void>('DELETE', `${this.#base}/faults`)
  }

  removeFault(id: string): Promise<void> {
    return this.#connection.call<void>('DELETE', `${this.#base}/faults/${encodeURIComponent(id)}`)
  }

  /** Recorded requests, newest first. */
  requests(query: ExchangeQuery = {}): Promise<ExchangePage> {
    return this.#connection.call<ExchangePage>('GET', `${this.#base}/requests${searchOf({ ...query })}`)
  }

  /** The next recorded request to end; null if none does within `wait_ms`, at most 20 s of real time. */
  nextRequest(query: NextExchangeQuery & { wait_ms: number }): Promise<NextExchange> {
    return this.#connection.call<NextExchange>('GET', `${this.#base}/requests/next${searchOf({ ...query })}`)
  }

  /** One recorded request with its explanation. */
  request(id: string): Promise<ExplainedExchange> {
    return this.#connection.call<ExplainedExchange>('GET', `${this.#base}/requests/${encodeURIComponent(id)}`)
  }

  /** All recorded requests that match, or one, as an HTTP Archive. */
  har(which: ExchangeQuery | string = {}): Promise<Har> {
    const path = typeof which === 'string' ? `/${encodeURIComponent(which)}` : ''
    const query = typeof which === 'string' ? {} : which
    return this.#connection.call<Har>('GET', `${this.#base}/requests${path}${searchOf({ ...query, format: 'har' })}`)
  }

  /** Operations of clients, newest first. `before`: `next_before` of the page before. */
  operations(page: { limit?: number; before?: number } = {}): Promise<OperationPage> {
    return this.#connection.call<OperationPage>('GET', `${this.#base}/operations${searchOf(page)}`)
  }

  /** One operation, by its number or that of one of its requests. */
  operation(number: number): Promise<OperationDetail> {
    return this.#connection.call<OperationDetail>('GET', `${this.#base}/operations/${number}`)
  }

  /** Events since the one of that id; without an id none, and the id to begin with. */
  events(lastEventId?: string): Promise<InspectorPoll> {
    const search = searchOf({ poll: 1, last_event_id: lastEventId })
    return this.#connection.call<InspectorPoll>('GET', `${this.#base}/events${search}`)
  }

  clearRequests(): Promise<void> {
    return this.#connection.call<void>('DELETE', `${this.#base}/requests`)
  }

  scenarios(): Promise<ScenarioList> {
    return this.#connection.call<ScenarioList>('GET', `${this.#base}/scenarios`)
  }

  /** Starts a shipped scenario by its name, or a scenario of the caller's own. */
  startScenario(scenario: string | ScenarioFile): Promise<ScenarioRun> {
    return typeof scenario === 'string'
      ? this.#connection.call<ScenarioRun>('POST', `${this.#base}/scenarios/${encodeURIComponent(scenario)}/start`)
      : this.#connection.call<ScenarioRun>('POST', `${this.#base}/scenarios`, scenario)
  }

  stopScenario(): Promise<StoppedScenario> {
    return this.#connection.call<StoppedScenario>('POST', `${this.#base}/scenarios/stop`)
  }

  /** Mints a user token of a tenant, by default of the first one. */
  async userToken(external_id: string, { tenant, ...wish }: MintingWish = {}): Promise<string> {
    const { slug } = await this.#tenant(tenant)
    const path = `${this.#base}/tenants/${encodeURIComponent(slug)}/user_tokens`
    return (await this.#connection.call<MintedToken>('POST', path, { ...wish, external_id })).token
  }

  /** Mints an identity-provider token of a tenant, by default of the first one. */
  async idpToken({ tenant, ...wish }: MintingWish = {}): Promise<string> {
    const { slug } = await this.#tenant(tenant)
    const path = `${this.#base}/tenants/${encodeURIComponent(slug)}/idp_tokens`
    return (await this.#connection.call<MintedToken>('POST', path, wish)).token
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
}

/** Path of a namespace. A text that is not a valid name could lead to another path. Throws RefusedError. */
function pathOf(namespace: string): string {
  if (!NAME.test(namespace)) throw unknownNamespace(namespace, 'names are of a-z, 0-9 and -')
  return `/_sandbox/namespaces/${encodeURIComponent(namespace)}`
}

/** The query with the values that are defined; empty if none is. */
function searchOf(values: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) search.set(name, String(value))
  return search.size > 0 ? `?${search}` : ''
}

/** Completes a URL as people write it: `localhost:4010`. Throws ControlError. */
export function originOf(text: string): string {
  const url = text.includes('://') ? text : `http://${text}`
  if (/^https?:/i.test(url) && URL.canParse(url)) return url.replace(/\/+$/, '')
  throw new ControlError(`"${text}" is not a URL such as http://127.0.0.1:4010`, { code: 'invalid_url' })
}

const NAME = new RegExp(NAMESPACE_NAME)

function unknownNamespace(name: string, fix: string): RefusedError {
  return new RefusedError(`there is no namespace "${shorten(name)}"; ${fix}`, { code: 'namespace_not_found' })
}

/** Readiness in an answer; undefined if the text holds none. */
function stateIn(text: string): Readiness | undefined {
  try {
    const state = JSON.parse(text)
    return typeof state?.ready === 'boolean' ? state : undefined
  } catch {
    return undefined
  }
}
