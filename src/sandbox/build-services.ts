import { createHmac } from 'node:crypto'
import { UserKeys } from '../auth/user-keys.ts'
import { UserTokenVerifier } from '../auth/user-token-verifier.ts'
import type { ChainCopies } from '../chain/anvil-chain.ts'
import type { AnvilChains } from '../chain/anvil-chains.ts'
import { RpcChainObserver } from '../chain/rpc-chain-observer.ts'
import type { ChainTime } from '../control/contract.ts'
import { Audit } from '../domain/audit.ts'
import type { ClockPosition, SandboxClock } from '../domain/clock.ts'
import { EndUsers } from '../domain/end-users.ts'
import { Idempotency } from '../domain/idempotency.ts'
import { Ids, type IdsMade } from '../domain/ids.ts'
import { CursorCodec } from '../domain/pagination.ts'
import { Portfolios } from '../domain/portfolios.ts'
import type { Chain, Chains, WalletOwner } from '../domain/ports/chain.ts'
import { Quota } from '../domain/quota.ts'
import type { Address, EndUser, Showing, Tenant } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import { Showings } from '../domain/showings.ts'
import { Transfers } from '../domain/transfers.ts'
import { FaultEngine } from '../faults/fault-engine.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import type { Seeder } from '../fixtures/seed.ts'
import { renderProblem } from '../http/problem.ts'
import { transferResponse } from '../partner-api/transfer-endpoint.ts'
import type { ResolvedOptions } from '../resolve-options.ts'
import { ScenarioRunner } from '../scenarios/scenario-runner.ts'
import type { LedgerEntry } from '../store/ledger-entry.ts'
import { createStore, type LedgerStore } from '../store/ledger-store.ts'
import type { Logger } from '../support/logger.ts'
import type { DurationRange } from '../support/quantities.ts'
import { SeededRandom } from '../support/random.ts'
import { ExchangeLog } from '../traffic/exchange-log.ts'
import { Redactor } from '../traffic/redact.ts'
import type { Persistence } from './persistence.ts'
import type { Surroundings } from './surroundings.ts'

/** All parts of a namespace, wired together. */
export type Services = Awaited<ReturnType<typeof buildServices>>

/** Dependencies of {@link buildServices}. */
export interface PartsContext {
  name: string
  /** The namespace's life; undefined for the default namespace. */
  life: string | undefined
  fixture: Fixture
  confirmationDelay: DurationRange
  /** Seed of every random choice. */
  seed: number
  /** Present if the sandbox has a data directory. */
  persistence: Persistence | undefined
  clock: SandboxClock
  /** State to begin with; undefined: the stored state, or none. */
  begin: NamespaceCopy | undefined
  /** Aborted by a reset or a stop. */
  generation(): AbortSignal
  surroundings: Pick<Surroundings, 'options' | 'secrets' | 'meter'>
  log: Logger
}

/** Builds the parts in the order of their dependencies. */
export async function buildServices(context: PartsContext) {
  const { life, fixture, confirmationDelay, seed, persistence, clock, begin, generation, log } = context
  const { settings, tenants } = fixture
  persistence?.follow(clock, log)
  void persistence?.watch(clock, log)
  const random = begin?.random.copy() ?? new SeededRandom(seed, persistence?.run)
  const ids = new Ids({ clock, random, last: begin?.ids })
  const store = await openLedger(context)
  clock.notBefore(store.at) // the machine may have set its own clock back while the sandbox was not running
  const chains = new PendingChains()
  // The first run's secret in every run, since cursors outlive restarts. By life too, since namespaces of one seed have the same ids.
  const secret = new SeededRandom(seed).bytes(life === undefined ? 'cursor-secret' : `cursor-secret/${life}`, 32)
  const cursors = new CursorCodec({ secret, clock })

  const common = { store, chains, clock, ids, settings, log }
  const portfolios = new Portfolios(common)
  const journal = await persistence?.journal<Showing[]>('showings', { unhurried: true })
  const showings = await Showings.open({ ...common, journal }, begin?.showings)
  const endUsers = new EndUsers(common)
  const idempotency = new Idempotency({
    ...common,
    render: (problem, claim) => renderProblem(problem, claim, settings),
  })
  const respond = transferResponse(settings)
  const transfers = new Transfers({
    ...common,
    ...{ random, portfolios, showings, idempotency, confirmationDelay, generation, respond },
  })
  const observer = new RpcChainObserver({ chains, protocols: settings.protocols })
  const audit = new Audit({ store, observer, portfolios, transfers, clock, settings })

  const userTokens = new UserTokenVerifier({
    audience: settings.audience,
    leeway: settings.user_token_leeway,
    issuers: settings.user_token_codes === 'several' ? new Set(tenants.map(({ tenant }) => tenant.issuer)) : undefined,
    clock,
    keys: new UserKeys({ clock, logger: log }),
  })
  const service: Service = {
    settings,
    store,
    chains,
    clock,
    cursors,
    idempotency,
    endUsers,
    portfolios,
    showings,
    transfers,
    verifyUserToken: (token, tenant) => userTokens.verify(token, tenant),
  }
  const pools = tenants.flatMap((tenant) => tenant.pools)
  const forks = fixture.chains.flatMap(({ chain_id, fork }) => (fork ? [chain_id] : []))
  const faults = new FaultEngine({ clock, random, chains, pools, forks, log, mayBreak: () => persistence?.mayBreak() })
  const scenarios = new ScenarioRunner({ faults, clock, log, seed })
  const exchanges = buildExchanges(context)
  return {
    service,
    quota: buildQuota(context, store),
    store,
    exchanges,
    observer,
    audit,
    faults,
    scenarios,
    random,
    ids,
    chains,
    userTokens,
  }
}

async function openLedger({ fixture, persistence, clock, begin }: PartsContext): Promise<LedgerStore> {
  const tenants = fixture.tenants.map(({ tenant }) => tenant)
  const journal = await persistence?.timedJournal<LedgerEntry>('ledger')
  return createStore(journal, undefined, begin && withTenants(begin.ledger, tenants), () => clock.now())
}

/** Undefined without a limit: requests then ask nothing. */
function buildQuota({ name, clock, surroundings }: PartsContext, store: LedgerStore): Quota | undefined {
  const { quota: limits } = surroundings.options
  if (limits.requestsPerSecond === 0 && limits.ledgerBytes === 0) return undefined
  return new Quota({ name, limits, clock, ledgerBytes: () => store.footprint.bytes })
}

/** The record of its clients' exchanges. */
function buildExchanges({
  name,
  life,
  fixture,
  clock,
  surroundings: { options, ...shared },
}: PartsContext): ExchangeLog {
  const tenants = fixture.tenants.map(({ tenant }) => tenant)
  const slugs = new Map(tenants.map(({ client_id, slug }) => [client_id, slug]))
  const basic = tenants.map(({ client_id, client_secret }) => `${client_id}:${client_secret}`)
  const keys = [fixture.identity_provider, ...tenants].flatMap(({ private_key_pem }) => private_key_pem ?? [])
  const secrets = [
    ...tenants.map(({ client_secret }) => client_secret),
    ...basic,
    ...shared.secrets,
    options.controlToken ?? '',
    ownControlToken(options, { name, life }) ?? '',
    rpcKey(options, life) ?? '',
  ]
  return new ExchangeLog({
    ...options.recording,
    clock,
    counts: shared.meter.of(name),
    settings: fixture.settings,
    redactor: new Redactor(secrets, keys),
    tenantOf: (clientId) => slugs.get(clientId),
  })
}

/** Copies all parts but the chains; call it while the chains stand still. */
export async function copyServices(services: Services): Promise<Omit<NamespaceCopy, 'chains'>> {
  const { service, store, random, ids, faults } = services
  await store.whole()
  return {
    ledger: store.entries(),
    showings: service.showings.all(),
    random: random.copy(),
    ids: ids.made,
    clock: service.clock.state,
    owesRepairs: faults.repairs.owed,
  }
}

/** Seeds through the service's own rules: a fixture's deposits are real transactions, confirmed at once. */
export function seedService({ endUsers, portfolios, transfers }: Service): Seeder {
  const users = new Map<string, EndUser>()
  return {
    async createEndUsers(tenant, wishes) {
      const made = await endUsers.createTogether(tenant, wishes)
      for (const user of made) users.set(user.id, user)
      return made
    },
    async createPortfolio(_tenant, user, pool, wish) {
      return (await portfolios.create(user, pool, wish)).portfolio
    },
    async deposit(portfolio, amount) {
      const user = users.get(portfolio.end_user_id)
      if (!user) throw new Error('a seeded portfolio belongs to a seeded end user')
      const { portfolio_id } = portfolio
      await transfers.run({
        type: 'deposit',
        user,
        portfolio_id,
        amount,
        delay: 0,
        onPhase: async () => undefined,
      })
    },
  }
}

/** The chains while they start: the server already listens, but the pipeline lets no request through to them. */
class PendingChains implements Chains {
  #started: AnvilChains | undefined

  /** Supplies the started chains. */
  resolve(chains: AnvilChains): void {
    this.#started = chains
  }

  get started(): AnvilChains | undefined {
    return this.#started
  }

  /** Lets every chain mine a block of the clock's present time, and reports within some seconds if all have one. */
  async follow(clock: SandboxClock): Promise<ChainTime> {
    return this.#started ? this.#started.follow(clock) : { ok: false, reason: 'the chains are starting' }
  }

  get(chainId: string): Chain | undefined {
    return this.#require().get(chainId)
  }

  all(): Chain[] {
    return this.#require().all()
  }

  walletAddress(owner: WalletOwner): Address {
    return this.#require().walletAddress(owner)
  }

  #require(): AnvilChains {
    if (!this.#started) throw new Error('the chains have not started')
    return this.#started
  }
}

/** State of a namespace at one moment, from which another one can go on. Many namespaces may share one copy; none changes it. */
export interface NamespaceCopy {
  readonly ledger: readonly LedgerEntry[]
  readonly showings: readonly Showing[]
  /** A namespace that draws from it copies it first. */
  readonly random: SeededRandom
  readonly ids: IdsMade
  readonly clock: ClockPosition
  readonly chains: ChainCopies
  /** True if faults have broken something on its chains. */
  readonly owesRepairs: boolean
}

/** The entries with these tenants in the place of those with the same ids. */
function withTenants(ledger: readonly LedgerEntry[], tenants: readonly Tenant[]): LedgerEntry[] {
  const own = new Map(tenants.map((tenant) => [tenant.tenant_id, tenant]))
  return ledger.map((entry) => {
    if (!('puts' in entry)) return entry
    const puts = entry.puts.map(([collection, sequence, record]): (typeof entry.puts)[number] => {
      const other = collection === 'tenants' ? own.get((record as Tenant).tenant_id) : undefined
      return [collection, sequence, other ?? record]
    })
    return { ...entry, puts }
  })
}

/** Half of the digest is still far beyond guessing, and keeps the URL short. */
const LENGTH = 22

/**
 * Key in the RPC URLs of a namespace; a client that has it may send transactions. Undefined if only this machine can reach the sandbox.
 * It derives from the control token, so that a URL is valid as long as the token, and from the namespace's `life`, so that it is not
 * valid for a later namespace of the same name.
 */
export function rpcKey(
  { local, controlToken }: Pick<ResolvedOptions, 'local' | 'controlToken'>,
  life: string | undefined,
): string | undefined {
  if (local || controlToken === undefined) return undefined
  return derived(controlToken, life === undefined ? 'rpc-key' : `rpc-key/${life}`)
}

/**
 * The control token of a namespace, which opens that namespace alone: `{name}.{22 characters}`. It derives as {@link rpcKey} does, so that
 * nothing of it is stored. Undefined for the default namespace, and if the sandbox has none.
 */
export function ownControlToken(
  { controlToken }: Pick<ResolvedOptions, 'controlToken'>,
  { name, life }: { name: string; life: string | undefined },
): string | undefined {
  if (controlToken === undefined || life === undefined) return undefined
  return `${name}.${derived(controlToken, `control-token/${life}`)}`
}

function derived(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url').slice(0, LENGTH)
}
