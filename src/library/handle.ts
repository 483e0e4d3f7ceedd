import type { ControlClient } from '../control/client.ts'
import type {
  ActiveFault,
  AuditReport,
  ClockState,
  Credentials,
  FaultRule,
  MovedClock,
  NamespaceSummary,
  Report,
  ReportWish,
  ScenarioFile,
  ScenarioList,
  ScenarioRun,
  TenantCredentials,
} from '../control/contract.ts'
import { refuseUnknownNames } from '../option-error.ts'
import { type ChainClient, chainClients } from './chain-clients.ts'
import { type RequestsHandle, requestsOf } from './requests-handle.ts'
import type { Viem } from './viem.ts'

/** A running sandbox, started in this process or connected to. Every method throws ControlError. */
export interface SandboxHandle extends AsyncDisposable {
  /** The service: requests go to `{baseUrl}/v1/partner/…`. */
  readonly baseUrl: string
  /** Token endpoint of the identity provider. */
  readonly authUrl: string
  readonly controlUrl: string
  /** The handle's namespace: `default` unless another one was made or named. */
  readonly namespace: string
  readonly seed: number
  readonly tenants: TenantCredentials[]
  /** A viem client of the first chain: public actions, and Anvil's own. */
  readonly chain: ChainClient
  /** Such a client for each chain, by chain id. */
  readonly chains: Readonly<Record<string, ChainClient>>
  readonly clock: ClockHandle
  readonly faults: FaultsHandle
  readonly scenarios: ScenariosHandle
  readonly requests: RequestsHandle
  /** Namespaces of the whole sandbox. */
  readonly namespaces: NamespacesHandle<SandboxHandle>
  /** Addresses, secrets and keys, as in `GET /_sandbox/credentials`. */
  credentials(): Promise<Credentials>
  /**
   * A user token, minted with the tenant's key, as your own code would send it in `X-User-Token`. It is good unless the wish changes it.
   * @example
   * const good = await sandbox.userToken('alice')
   * const expired = await sandbox.userToken('alice', { expiresIn: -60 })
   * const forged = await sandbox.userToken('alice', { tenant: 'globex', key: 'unknown' })
   */
  userToken(externalId: string, wish?: TokenWish): Promise<string>
  /** A token of the identity provider, without a request to its token endpoint. It is good unless the wish changes it. */
  idpToken(wish?: TokenWish): Promise<string>
  /**
   * The report on the clients, from their requests and the answers since the last reset: the verdict, its findings, mistakes in the set-up,
   * coverage.
   * @example expect((await sandbox.report({ require: ['idempotency-key-on-retry'] })).verdict).toBe('passed')
   */
  report(wish?: ReportWish): Promise<Report>
  /** Audits every portfolio: API, ledger and chain must agree. */
  audit(): Promise<AuditReport>
  /**
   * The state of this namespace as text, without secrets: ledger, chains and clock. Save it in a file, and give it to
   * `namespaces.create({ snapshot })`, or the file to `startSandbox({ snapshot: path })`.
   * @example await writeFile('before-withdrawal.snapshot', await sandbox.snapshot())
   */
  snapshot(): Promise<string>
  /** Resets state, chain, faults and clock to the fixtures; of this namespace alone. */
  reset(): Promise<void>
  /**
   * Ends the sandbox, even one that another process started, and resolves when its port is free; on the handle of a namespace, it
   * deletes that namespace alone. The end of an `await using` block ends only what the call itself started or made: a sandbox that it
   * connected to goes on.
   */
  stop(): Promise<void>
}

/** Tenant of a token, and its differences from a good one. */
export interface TokenWish {
  /** Slug of the tenant; default: the first one. */
  tenant?: string
  /** Claims to replace; null removes one. */
  claims?: Record<string, unknown>
  /** Header members to replace. */
  header?: Record<string, unknown>
  /** Seconds of real time; negative for an expired token. */
  expiresIn?: number
  /** `unknown`: signed with a key that is registered nowhere. Default: `registered`. */
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
   * Moves on by a duration or by a number of milliseconds, and wakes everything that waited for that. As with every move, it resolves when
   * the latest block of every chain has the new time; `chains` has the reason if one cannot follow.
   * @example await sandbox.clock.advance('30d')
   */
  advance(by: string | number): Promise<MovedClock>
  /** Moves on to a later moment, ISO 8601. */
  set(moment: string | Date): Promise<MovedClock>
  /** Stops business time at its present moment. */
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
  /** The faults in force, each with the number of times it has struck. */
  list(): Promise<ActiveFault[]>
  /** Takes one out of force. Resolves when its damage is mended; rejects if that takes longer than 3 s, but mending goes on. */
  remove(id: string): Promise<void>
  /** Takes all out of force. Resolves when all their damage is mended; rejects if that takes longer than 3 s, but mending goes on. */
  clear(): Promise<void>
}

/** Scenarios: faults and clock moves that belong together. */
export interface ScenariosHandle {
  /** The scenarios that ship with the sandbox, and the one started last. */
  list(): Promise<ScenarioList>
  /** Starts a shipped scenario by its name, or one of your own. */
  start(scenario: string | ScenarioFile): Promise<ScenarioRun>
  /** Takes back the changes of the running scenario. Resolves to the run as it ended; null if there was none. */
  stop(): Promise<ScenarioRun | null>
}

/** Differences between the handle of a sandbox in this process and one connected to. */
export interface Ways {
  /** For requests to the chain. */
  fetch: typeof fetch
  /** Place in the order of ends from which on `requests.next` looks; default: the first request on record. */
  begin?: string | undefined
  /** Called when the chains have started. */
  loadViem(): Promise<Viem>
  /** If given, viem is loaded by it when `chain` is first read, and not before. */
  requireViem?(): Viem
  /** Client of the sandbox that makes and deletes namespaces; default: the handle's own. */
  namespacesBy?: ControlClient
  /** Gives credentials the addresses as seen from here; default: as the sandbox returns them. */
  addressed?(credentials: Credentials): Credentials
  stop(): Promise<void>
  /** Called at the end of an `await using` block. */
  dispose(): Promise<void>
}

/** Makes the handle of the sandbox behind a client, in this process or connected to. */
export async function handleOf(client: ControlClient, ways: Ways): Promise<SandboxHandle> {
  return handleWith(client, await client.credentials(), ways)
}

async function handleWith(client: ControlClient, given: Credentials, ways: Ways): Promise<SandboxHandle> {
  const { begin, fetch, loadViem, requireViem, stop, dispose } = ways
  const { addressed = (as: Credentials) => as, namespacesBy = client } = ways
  const credentials = addressed(given)
  let loaded = requireViem ? undefined : chainClients(credentials, fetch, await loadViem())
  const chains = () => {
    loaded ??= requireViem ? chainClients(credentials, fetch, requireViem()) : {}
    return loaded
  }
  return {
    baseUrl: credentials.base_url,
    authUrl: credentials.auth_url,
    controlUrl: credentials.control_url,
    namespace: credentials.namespace,
    seed: credentials.seed,
    tenants: credentials.tenants,
    get chain() {
      const [chain] = Object.values(chains())
      if (!chain) throw new Error('a sandbox has a chain')
      return chain
    },
    get chains() {
      return chains()
    },
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
    requests: requestsOf(client, begin),
    // A namespace's handle has that namespace's token for all but this: its token makes none.
    namespaces: namespacesOf(namespacesBy, (own, made, end) =>
      handleWith(own, made, { ...ways, namespacesBy, begin: undefined, stop: end, dispose: end }),
    ),
    credentials: async () => addressed(await client.credentials()),
    userToken: async (externalId, wish = {}) => client.userToken(externalId, mintingWish(wish)),
    idpToken: async (wish = {}) => client.idpToken(mintingWish(wish)),
    report: (wish = {}) => {
      refuseUnknownNames(wish, { require: true, ended: true, end: true }, 'a report')
      return client.report(wish)
    },
    audit: () => client.audit(),
    snapshot: () => client.snapshot(),
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
    // As JSON: an invalid Date becomes null, which the sandbox refuses in its own words.
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

/** Options of a new namespace. Defaults are those of the namespace that it copies. */
export interface NamespaceOptions {
  /** A DNS label: `pull-request-7`. Default: a generated name. */
  name?: string
  /** As in a fixture file; sections left out are those of the sandbox's own fixture. */
  fixtures?: Record<string, unknown>
  /** Seed of every random choice. */
  seed?: number
  /** ISO 8601 moment at which its clock starts, frozen. */
  clock?: string
  /** `0`, `2s`, `5s-30s`, `realistic`, or milliseconds. */
  confirmationDelay?: string | number
  /** The namespace to copy in its present state. Default: `default` in its state after seeding. */
  from?: string
  /** What `snapshot()` gave, or the content of a file with that, to begin with. It has its own fixtures and seed. */
  snapshot?: string | Uint8Array
}

/** Isolated copies of everything behind the API, each with credentials, chains and a clock of its own. */
export interface NamespacesHandle<Handle> {
  /**
   * Creates a namespace and returns a handle of the same kind, whose `stop()`, and the end of an `await using` block, delete it.
   * @example
   * await using mine = await sandbox.namespaces.create({ clock: '2030-01-01T00:00:00Z' })
   * await mine.clock.advance('30d')
   * @example
   * await using retry = await sandbox.namespaces.create({ from: mine.namespace })
   */
  create(options?: NamespaceOptions): Promise<Handle>
  /** Every namespace, the default one first. */
  list(): Promise<NamespaceSummary[]>
  /** Deletes a namespace; requests that it holds are answered 503. */
  delete(name: string): Promise<void>
}

const NAMESPACE_OPTIONS: Record<keyof NamespaceOptions, true> = {
  name: true,
  fixtures: true,
  seed: true,
  clock: true,
  confirmationDelay: true,
  from: true,
  snapshot: true,
}

function snapshotText(snapshot: string | Uint8Array): string {
  return typeof snapshot === 'string' ? snapshot : new TextDecoder().decode(snapshot)
}

/** The namespaces of the sandbox behind a client; `open` makes a handle of one. */
function namespacesOf<Handle>(
  client: ControlClient,
  open: (client: ControlClient, credentials: Credentials, end: () => Promise<void>) => Promise<Handle>,
): NamespacesHandle<Handle> {
  return {
    async create(options = {}) {
      refuseUnknownNames(options, NAMESPACE_OPTIONS, 'a namespace')
      const { confirmationDelay, snapshot, ...rest } = options
      const wish = {
        ...rest,
        ...(confirmationDelay !== undefined && { confirmation_delay: confirmationDelay }),
        ...(snapshot !== undefined && { snapshot: snapshotText(snapshot) }),
      }
      const credentials = await client.createNamespace(wish)
      const { namespace } = credentials
      let ending: Promise<void> | undefined
      const end = () => {
        ending ??= client.deleteNamespace(namespace)
        return ending
      }
      return open(client.in(namespace, credentials.control_token), credentials, end)
    },
    list: () => client.namespaces(),
    delete: (name) => client.deleteNamespace(name),
  }
}
