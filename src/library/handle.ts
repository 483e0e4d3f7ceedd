import type { ControlClient } from '../control/client.ts'
import type {
  ActiveFault,
  AuditReport,
  ClockState,
  Credentials,
  FaultRule,
  MovedClock,
  Report,
  ReportWish,
  ScenarioFile,
  ScenarioList,
  ScenarioRun,
  TenantCredentials,
} from '../control/contract.ts'
import { refuseUnknownNames } from '../option-error.ts'
import { type ChainClient, chainClients } from './chain-clients.ts'
import { type NamespacesHandle, namespacesOf } from './namespaces-handle.ts'
import { type RequestsHandle, requestsOf } from './requests-handle.ts'

/** A sandbox at work: started in this process, or connected to. Every method throws ControlError. */
export interface SandboxHandle extends AsyncDisposable {
  /** The service: requests go to `{baseUrl}/v1/partner/…`. */
  readonly baseUrl: string
  /** Token endpoint of the identity provider. */
  readonly authUrl: string
  readonly controlUrl: string
  /** The namespace it is of: `default` unless another one was made or named. */
  readonly namespace: string
  readonly seed: number
  readonly tenants: TenantCredentials[]
  /** A viem client of the first chain: public actions, and Anvil's own. */
  readonly chain: ChainClient
  /** The same of every chain, by chain id. */
  readonly chains: Readonly<Record<string, ChainClient>>
  readonly clock: ClockHandle
  readonly faults: FaultsHandle
  readonly scenarios: ScenariosHandle
  readonly requests: RequestsHandle
  /** Of the whole sandbox. */
  readonly namespaces: NamespacesHandle<SandboxHandle>
  /** Addresses, secrets and keys, as `GET /_sandbox/credentials` shows them. */
  credentials(): Promise<Credentials>
  /**
   * A user token, minted with the tenant's key: what your own code would send in `X-User-Token`. Good unless the wish says
   * otherwise.
   * @example
   * const good = await sandbox.userToken('alice')
   * const expired = await sandbox.userToken('alice', { expiresIn: -60 })
   * const forged = await sandbox.userToken('alice', { tenant: 'globex', key: 'unknown' })
   */
  userToken(externalId: string, wish?: TokenWish): Promise<string>
  /** A token of the identity provider, without asking its token endpoint. Good unless the wish says otherwise. */
  idpToken(wish?: TokenWish): Promise<string>
  /**
   * What is to be said of the clients, by what they have sent and got since the last reset: the verdict, its findings, mistakes in the
   * set-up, coverage.
   * @example expect((await sandbox.report({ require: ['idempotency-key-on-retry'] })).verdict).toBe('passed')
   */
  report(wish?: ReportWish): Promise<Report>
  /** Whether API, ledger and chain agree on every portfolio. */
  audit(): Promise<AuditReport>
  /** Back to the fixtures: state, chain, faults, clock; of this namespace alone. */
  reset(): Promise<void>
  /**
   * Ends the sandbox, whoever started it, and resolves when its port is free; of the handle of a namespace, it deletes that one alone.
   * At the end of an `await using` block only what the call itself started or made ends: what was connected to goes on.
   */
  stop(): Promise<void>
}

/** Whose token, and how it is to differ from a good one. */
export interface TokenWish {
  /** Slug of the tenant; default: the first one. */
  tenant?: string
  /** Replace claims; null removes one. */
  claims?: Record<string, unknown>
  /** Replace header members. */
  header?: Record<string, unknown>
  /** Seconds of real time; negative for a token that has expired. */
  expiresIn?: number
  /** `unknown`: signed with a key nobody registered. Default: `registered`. */
  key?: 'registered' | 'unknown'
}

/** Business time: timestamps, cursor age, idempotency age, confirmation delay, chain time. It only moves forward. */
export interface ClockHandle {
  /** Milliseconds since the Unix epoch. */
  now(): Promise<number>
  /** ISO 8601 UTC with milliseconds. */
  iso(): Promise<string>
  state(): Promise<ClockState>
  /**
   * Moves on by a duration or by so many milliseconds, and wakes whatever waited for that. Resolves, as all moves do, when the
   * latest block of every chain has the new time; `chains` says of one that cannot why not.
   * @example await sandbox.clock.advance('30d')
   */
  advance(by: string | number): Promise<MovedClock>
  /** Moves on to a later moment, ISO 8601. */
  set(moment: string | Date): Promise<MovedClock>
  /** Stops business time where it is. */
  freeze(): Promise<MovedClock>
  /** Lets business time run on from where it stands. */
  unfreeze(): Promise<MovedClock>
}

/** The faults in force. */
export interface FaultsHandle {
  /**
   * Puts rules in force, all or none.
   * @example
   * await sandbox.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
   */
  add(...rules: FaultRule[]): Promise<ActiveFault[]>
  /** Those in force, with how often they have struck. */
  list(): Promise<ActiveFault[]>
  /** Takes one out of force. Resolves when what it had broken is mended; rejects when that takes longer than 3 s, and goes on. */
  remove(id: string): Promise<void>
  /** Takes all out of force. Resolves when everything they had broken is mended; rejects when that takes longer than 3 s, and goes on. */
  clear(): Promise<void>
}

/** Scenarios: faults and clock moves that belong together. */
export interface ScenariosHandle {
  /** Those that ship with the sandbox, and the one started last. */
  list(): Promise<ScenarioList>
  /** Starts a shipped one by its name, or one of your own. */
  start(scenario: string | ScenarioFile): Promise<ScenarioRun>
  /** Takes back what the running one applied. Resolves to the run as it ended; null when none was there. */
  stop(): Promise<ScenarioRun | null>
}

/** In what a handle of this process and one connected to differ. */
interface Ways {
  /** To the chain. */
  fetch: typeof fetch
  /** Credentials with the addresses as they are from here; default: as the sandbox gives them. */
  addressed?(credentials: Credentials): Credentials
  stop(): Promise<void>
  /** At the end of an `await using` block. */
  dispose(): Promise<void>
}

/** The handle of the sandbox behind a client: one in this process and one connected to are the same from here on. */
export async function handleOf(client: ControlClient, ways: Ways): Promise<SandboxHandle> {
  return handleWith(client, await client.credentials(), ways)
}

async function handleWith(client: ControlClient, given: Credentials, ways: Ways): Promise<SandboxHandle> {
  const { addressed = (as: Credentials) => as, fetch, stop, dispose } = ways
  const credentials = addressed(given)
  const chains = await chainClients(credentials, fetch)
  const [chain] = Object.values(chains)
  if (!chain) throw new Error('a sandbox has a chain')
  return {
    baseUrl: credentials.base_url,
    authUrl: credentials.auth_url,
    controlUrl: credentials.control_url,
    namespace: credentials.namespace,
    seed: credentials.seed,
    tenants: credentials.tenants,
    chain,
    chains,
    clock: clockOf(client),
    faults: {
      add: (...rules) => client.addFaults(rules),
      list: () => client.faults(),
      remove: (id) => client.removeFault(id),
      clear: () => client.clearFaults(),
    },
    scenarios: {
      list: () => client.scenarios(),
      start: (scenario) => client.startScenario(scenario),
      stop: async () => (await client.stopScenario()).stopped,
    },
    requests: requestsOf(client),
    namespaces: namespacesOf(client, (own, made, end) => handleWith(own, made, { ...ways, stop: end, dispose: end })),
    credentials: async () => addressed(await client.credentials()),
    userToken: async (externalId, wish = {}) => client.userToken(externalId, mintingWish(wish)),
    idpToken: async (wish = {}) => client.idpToken(mintingWish(wish)),
    report: (wish = {}) => {
      refuseUnknownNames(wish, { require: true, ended: true, end: true }, 'a report')
      return client.report(wish)
    },
    audit: () => client.audit(),
    async reset() {
      await client.reset()
    },
    stop,
    [Symbol.asyncDispose]: dispose,
  }
}

function clockOf(client: ControlClient): ClockHandle {
  const iso = async () => (await client.clock()).now
  return {
    now: async () => Date.parse(await iso()),
    iso,
    state: () => client.clock(),
    advance: (by) => client.moveClock({ advance: typeof by === 'number' ? `${by}ms` : by }),
    // As JSON has it: a Date that is none becomes null, which the sandbox refuses in its words.
    set: (moment) => client.moveClock({ set: moment as string }),
    freeze: () => client.moveClock({ freeze: true }),
    unfreeze: () => client.moveClock({ freeze: false }),
  }
}

function mintingWish(wish: TokenWish) {
  refuseUnknownNames(wish, { tenant: true, claims: true, header: true, expiresIn: true, key: true }, 'a token')
  const { expiresIn, ...rest } = wish
  return { ...rest, ...(expiresIn !== undefined && { expires_in: expiresIn }) }
}
