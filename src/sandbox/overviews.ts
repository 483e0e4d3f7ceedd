import { Problem } from '../domain/errors.ts'
import type {
  MoneyOverview,
  MoneySelection,
  TransactionDetail,
  TransactionPage,
  TransactionSelection,
} from '../overview/contract.ts'
import type { TransactionParts } from '../overview/transaction-row.ts'
import type { Namespace } from './namespace.ts'

/**
 * The money of a namespace's end users. A chain that cannot be reached leaves its values out. Throws Problem sandbox_starting before
 * there is a ledger, and if the namespace is reset meanwhile.
 */
export async function moneyOf(namespace: Namespace, query: MoneySelection): Promise<MoneyOverview> {
  const { store, chains, observer, audit, service } = namespace.services
  return unlessReset(namespace, async () => {
    const judged = await namespace.overview.judged()
    // Loaded at the first request: most runs never need it.
    const { moneyOverview } = await import('../overview/money.ts')
    const { clock } = service
    return moneyOverview({ store, chains, observer, clock, judged, audit: () => audit.run() }, query)
  })
}

/**
 * Transactions of a chain in words; undefined if there is no such chain. While the chain cannot be reached, the answer says why. Throws
 * Problem sandbox_starting as {@link moneyOf}.
 */
export async function transactionsOf(
  namespace: Namespace,
  selection: TransactionSelection,
): Promise<TransactionPage | undefined> {
  return unlessReset(namespace, async () => {
    const { transactionPage } = await import('../overview/transaction-page.ts')
    return transactionPage(await transactionParts(namespace), selection)
  })
}

/** One transaction in words; undefined for an unknown one. Throws ChainUnavailableError, and Problem sandbox_starting as {@link moneyOf}. */
export async function transactionOf(namespace: Namespace, hash: string): Promise<TransactionDetail | undefined> {
  return unlessReset(namespace, async () => {
    const { transactionDetail } = await import('../overview/transaction-detail.ts')
    return transactionDetail(await transactionParts(namespace), hash)
  })
}

async function transactionParts(namespace: Namespace): Promise<TransactionParts> {
  const { store, chains } = namespace.services
  const { numbers } = await namespace.overview.judged()
  // The interfaces are parsed when the code is loaded: most runs never need it.
  const { chainWords } = await import('../chain/words/describe-transaction.ts')
  return { store, chains, numbers, words: chainWords }
}

/** Carries out a reading. If the namespace is reset meanwhile, its parts may be of two states: then throws Problem sandbox_starting. */
async function unlessReset<Result>({ http }: Namespace, read: () => Promise<Result>): Promise<Result> {
  const generation = http.generation()
  try {
    const result = await read()
    if (!generation.aborted) return result
  } catch (error) {
    if (!generation.aborted) throw error
  }
  throw new Problem('sandbox_starting', { detail: 'The sandbox was reset meanwhile.' })
}
