import {
  type AuditEvidence,
  type AuditFinding,
  bookedShares,
  checkBalances,
  checkHashes,
  checkIdempotency,
  checkPrincipal,
  checkShares,
  checkWallets,
  type Holding,
  type TokenBalance,
} from './audit-checks.ts'
import { type AuditCheckId, type AuditReport, AuditSummary } from './audit-report.ts'
import type { SandboxClock } from './clock.ts'
import { type Portfolios, poolOf, type ValuedPortfolio } from './portfolios.ts'
import { type ChainObserver, ChainUnavailableError, type TransactionOutcome } from './ports/chain.ts'
import type { Store } from './ports/store.ts'
import type { EndUser, Hex, Pool, Portfolio, Tenant, Transaction } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'
import type { Transfers } from './transfers.ts'
import { allOf, pagesOf } from './walk.ts'

/** Number of end users that are compared together: their questions to a chain share its round trips. */
const PAGE = 200
/** Most transactions compared together, unless one end user has more: some tens of milliseconds in which other requests wait. */
const MANY = 2000
/** Most looks at an end user whose transfers interfere, or whose records seem wrong. */
const LOOKS = 6
/** Milliseconds of real time between two looks. */
const PAUSE_MS = 50

/** One look at an end user. */
interface Inspection {
  book: LedgerSnapshot
  /**
   * `moved`: a transfer was settled during the look, so ledger and chain were not read at one moment, and there are no findings.
   * `transferring`: a transfer is under way, so the chain may be ahead of the ledger.
   */
  state: 'quiet' | 'transferring' | 'moved'
  findings: [AuditCheckId, AuditFinding][]
}

/**
 * Compares the API's answers, the ledger and the chain while the service goes on. Ledger and chain are read one after the other, so
 * an end user counts only if nothing was settled in between, and is compared with the chain only if no transfer was under way. An
 * end user whose records changed during the look, or seem wrong (as they may while a block is being replaced), is looked at again.
 * The report names those that never came to rest.
 */
export class Audit {
  readonly #deps: AuditDeps

  constructor(deps: AuditDeps) {
    this.#deps = deps
  }

  /** Throws ChainUnavailableError. */
  async run(): Promise<AuditReport> {
    const { store } = this.#deps
    const summary = new AuditSummary()
    const hashes = new Map<string, string>()
    for (const tenant of await allOf(store, 'tenants', 'all')) {
      const pools = await allOf(store, 'pools', tenant.tenant_id)
      for await (const users of pagesOf(store, 'end_users', tenant.tenant_id, PAGE)) {
        for await (const group of this.#groups(users)) {
          for (const look of await this.#lookUntilSure(tenant, pools, group)) {
            for (const [id, finding] of look.findings) summary.add(id, finding)
            summary.add('hashes', duplicates(look.book, hashes))
            if (look.state !== 'quiet') summary.leaveOut(look.book.name)
          }
        }
      }
    }
    summary.add('transfers', await this.#checkTransfers())
    return summary.report()
  }

  /** Splits end users, in their order, into groups of at most {@link MANY} transactions. */
  async *#groups(users: readonly EndUser[]): AsyncGenerator<EndUser[]> {
    let group: EndUser[] = []
    let transactions = 0
    for (const user of users) {
      const count = await this.#deps.store.count('transactions', user.id)
      if (group.length > 0 && transactions + count > MANY) {
        yield group
        group = []
        transactions = 0
      }
      group.push(user)
      transactions += count
    }
    yield group
  }

  /** Looks at each end user until the result is sure, {@link LOOKS} times at most; returns the last look at each. */
  async #lookUntilSure(tenant: Tenant, pools: readonly Pool[], users: readonly EndUser[]): Promise<Inspection[]> {
    const done: Inspection[] = []
    let left = users
    for (let look = 1; left.length > 0; look++) {
      if (look > 1) await this.#deps.clock.wallSleep(PAUSE_MS)
      const looks = await this.#look(tenant, pools, left).catch((error: unknown) => {
        // A node that is replacing a block refuses reads that name the block that is gone.
        if (look === LOOKS || error instanceof ChainUnavailableError) throw error
      })
      if (!looks) continue
      const again = look < LOOKS ? looks.filter((one) => !isSure(one)) : []
      done.push(...looks.filter((one) => !again.includes(one)))
      left = again.map(({ book }) => book.user)
    }
    return done
  }

  /**
   * The order matters: number of transactions, ledger, chain, transfers under way, number again. A transfer that was mined before the
   * chain was read is then either in the ledger, or under way, or has changed the number.
   */
  async #look(tenant: Tenant, pools: readonly Pool[], users: readonly EndUser[]): Promise<Inspection[]> {
    const { store } = this.#deps
    const books = await Promise.all(users.map((user) => readLedger(store, tenant, pools, user)))
    const heard = await hearOn(books, this.#deps)
    const transferring = await this.#transferring()
    const counts = await Promise.all(users.map(({ id }) => store.count('transactions', id)))
    return books.map((book, i): Inspection => {
      const evidence = heard[i]
      if (counts[i] !== book.count || !evidence) return { book, state: 'moved', findings: [] }
      const state = transferring.has(book.user.id) ? 'transferring' : 'quiet'
      return { book, state, findings: this.#findings(evidence, state === 'quiet') }
    })
  }

  #findings(evidence: AuditEvidence, withChain: boolean): [AuditCheckId, AuditFinding][] {
    const ledger: [AuditCheckId, AuditFinding][] = [
      ['principal', checkPrincipal(evidence)],
      ['hashes', checkHashes(evidence)],
      ['idempotency', checkIdempotency(evidence, this.#deps.settings.idempotency_ttl)],
    ]
    if (!withChain) return ledger
    return [
      ...ledger,
      ['shares', checkShares(evidence)],
      ['balances', checkBalances(evidence)],
      ['wallets', checkWallets(evidence)],
    ]
  }

  /** Ids of the end users with a transfer between signing and settling. */
  async #transferring(): Promise<Set<string>> {
    const { store } = this.#deps
    const users = new Set<string>()
    for await (const transfers of pagesOf(store, 'transfers', 'all')) {
      for (const { end_user_id } of transfers) users.add(end_user_id)
    }
    return users
  }

  /** Every signed transfer is being carried out; one that nothing works on would never be settled. */
  async #checkTransfers(): Promise<AuditFinding> {
    const { store, transfers } = this.#deps
    const finding: AuditFinding = { compared: 0, offences: [] }
    for await (const signed of pagesOf(store, 'transfers', 'all')) {
      for (const { id, tx_hash, portfolio_id, end_user_id } of signed) {
        const runs = transfers.runs(portfolio_id)
        if (!(await store.get('transfers', id))) continue // settled meanwhile
        finding.compared++
        if (runs) continue
        const user = await store.get('end_users', end_user_id)
        const tenant = user && (await store.get('tenants', user.tenant_id))
        const whose = tenant ? ` of ${nameOf(user, tenant)}` : ''
        finding.offences.push(`${id} (${tx_hash})${whose} was signed, and nothing carries it out`)
      }
    }
    return finding
  }
}

function isSure({ state, findings }: Inspection): boolean {
  return state === 'quiet' && findings.every(([, { offences }]) => offences.length === 0)
}

/** Finds transfers that share a hash with an earlier one; `known` collects the transaction of every hash. */
function duplicates({ name, transactions }: LedgerSnapshot, known: Map<string, string>): AuditFinding {
  const offences: string[] = []
  for (const { id, tx_hash, type } of transactions) {
    if (type === 'yield_harvest') continue // has the hash of its transfer
    const other = known.get(tx_hash)
    if (other !== undefined) offences.push(`${tx_hash} stands for both ${other} and ${id} of ${name}`)
    known.set(tx_hash, id)
  }
  return { compared: 0, offences }
}

/** Dependencies of {@link Audit}. */
export interface AuditDeps {
  store: Store
  observer: ChainObserver
  portfolios: Portfolios
  transfers: Transfers
  clock: SandboxClock
  settings: ServiceSettings
}

/** The ledger's records of one end user. */
interface LedgerSnapshot {
  user: EndUser
  name: string
  /** Number of transactions before anything else was read. */
  count: number
  pools: readonly Pool[]
  portfolios: Portfolio[]
  /** Newest first. */
  transactions: Transaction[]
}

/** Share of a transaction's amount that leaves the wallet. Yield is earned and stays in the market. */
const OUT_OF_WALLET = { deposit: 1n, withdrawal: -1n, yield_harvest: 0n } as const

/** A holding whose worth has not been read yet. */
type Held = Omit<Holding, 'shown' | 'worth'>

/** Reads the ledger's records of one end user; `pools` are the tenant's. */
async function readLedger(
  store: Store,
  tenant: Tenant,
  pools: readonly Pool[],
  user: EndUser,
): Promise<LedgerSnapshot> {
  const count = await store.count('transactions', user.id)
  const portfolios = await allOf(store, 'portfolios', user.id)
  const transactions = await allOf(store, 'transactions', user.id)
  return { user, name: nameOf(user, tenant), count, pools, portfolios, transactions }
}

/** Name of an end user in reports, with the tenant: two tenants may use one `external_id`. */
function nameOf({ external_id }: EndUser, { slug }: Tenant): string {
  return `${external_id} (${slug})`
}

/** Reads the chains for all of these end users together, in a constant number of round trips. */
async function hearOn(
  books: readonly LedgerSnapshot[],
  { observer, portfolios }: { observer: ChainObserver; portfolios: Portfolios },
): Promise<AuditEvidence[]> {
  const heard = await Promise.all(
    books.map((book) =>
      Promise.all([holdingsOf(book, observer), tokenBalancesOf(book, observer), outcomesOf(book, observer)]),
    ),
  )
  const wholes = new Map<Held, Portfolio>()
  for (const held of heard.flatMap(([holdings]) => holdings)) {
    const [portfolio] = held.portfolios
    if (portfolio) wholes.set(held, { ...portfolio, shares: sharesWithoutGifts(held).toString() })
  }
  // The values that the API answers with; parts and whole are read at one moment.
  const parts = [...wholes.keys()].flatMap(({ portfolios }) => portfolios.filter(({ shares }) => BigInt(shares) >= 0n))
  const valued = await portfolios.value([...parts, ...wholes.values()])
  const values = new Map(valued.map((one) => [one.portfolio, one]))
  return books.map(({ name, portfolios, transactions }, i) => {
    const [held = [], balances = [], outcomes = new Map()] = heard[i] ?? []
    const holdings = held.map((holding) => shownOf(holding, wholes.get(holding), values))
    return { name, portfolios, transactions, holdings, balances, outcomes }
  })
}

function sharesWithoutGifts({ portfolios, shares }: Held): bigint {
  const booked = bookedShares(portfolios)
  return booked >= 0n && booked < shares ? booked : shares
}

function shownOf(held: Held, whole: Portfolio | undefined, values: ReadonlyMap<Portfolio, ValuedPortfolio>): Holding {
  const worth = whole && values.get(whole)
  const shown = held.portfolios.flatMap((portfolio) => values.get(portfolio) ?? [])
  return { ...held, shown, worth: BigInt(worth?.balances.total_balance ?? 0) }
}

/** Reads every market of the tenant, also those where the end user has no portfolio: there the wallet should hold nothing. */
function holdingsOf({ user, pools, portfolios }: LedgerSnapshot, observer: ChainObserver): Promise<Held[]> {
  const markets = new Map([...pools, ...portfolios.map(poolOf)].map((pool) => [marketOf(pool), pool]))
  const holdings = [...markets].map(async ([market, pool]) => ({
    pool_id: pool.pool_id,
    portfolios: portfolios.filter((portfolio) => marketOf(portfolio) === market),
    shares: await observer.holding(pool, user.wallet_address),
  }))
  return Promise.all(holdings)
}

function tokenBalancesOf(
  { user, pools, portfolios, transactions }: LedgerSnapshot,
  observer: ChainObserver,
): Promise<TokenBalance[]> {
  const tokens = new Map(portfolios.map((portfolio) => [portfolio.portfolio_id, tokenOf(portfolio)]))
  const balances = user.funded.map(async (funded) => {
    const spent = transactions
      .filter(({ portfolio_id }) => tokens.get(portfolio_id) === tokenOf(funded))
      .reduce((sum, { type, amount_changed }) => sum + BigInt(amount_changed) * OUT_OF_WALLET[type], 0n)
    return {
      token_symbol: pools.find((pool) => tokenOf(pool) === tokenOf(funded))?.token_symbol ?? funded.token_address,
      funded: BigInt(funded.amount),
      spent,
      balance: await observer.balance(funded.chain_id, funded.token_address, user.wallet_address),
    }
  })
  return Promise.all(balances)
}

/** Leaves out transactions without a portfolio, since their chain is unknown. {@link checkPrincipal} reports them. */
async function outcomesOf(
  { portfolios, transactions }: LedgerSnapshot,
  observer: ChainObserver,
): Promise<ReadonlyMap<Hex, TransactionOutcome>> {
  const chains = new Map(portfolios.map(({ portfolio_id, chain_id }) => [portfolio_id, chain_id]))
  const outcomes = transactions.map(async ({ portfolio_id, tx_hash }) => {
    const chainId = chains.get(portfolio_id)
    return [tx_hash, chainId === undefined ? 'unknown' : await observer.outcome(chainId, tx_hash)] as const
  })
  return new Map(await Promise.all(outcomes))
}

function marketOf({ chain_id, market_address, token_address }: Pool | Portfolio): string {
  return `${chain_id}/${market_address}/${token_address}`
}

function tokenOf({ chain_id, token_address }: Pick<Pool, 'chain_id' | 'token_address'>): string {
  return `${chain_id}/${token_address}`
}
