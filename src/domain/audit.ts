import {
  type AuditEvidence,
  type AuditFinding,
  checkBalances,
  checkHashes,
  checkIdempotency,
  checkPrincipal,
  checkShares,
  checkWallets,
} from './audit-checks.ts'
import { hearOn, type LedgerSnapshot, nameOf, readLedger } from './audit-evidence.ts'
import { type AuditCheckId, type AuditReport, AuditSummary } from './audit-report.ts'
import type { SandboxClock } from './clock.ts'
import type { Portfolios } from './portfolios.ts'
import { type ChainObserver, ChainUnavailableError } from './ports/chain.ts'
import type { Store } from './ports/store.ts'
import type { EndUser, Pool, Tenant } from './records.ts'
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
