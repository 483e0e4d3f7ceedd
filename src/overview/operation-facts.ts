import type { Store } from '../domain/ports/store.ts'
import type { Portfolio, Transaction } from '../domain/records.ts'
import { type Said, saidBy } from '../oracle/operation.ts'
import { shorten } from '../support/foreign-text.ts'
import { jsonObject } from '../support/json.ts'
import { amountInWords } from '../support/quantities.ts'
import type { UncountedExchange } from '../traffic/recorded-exchange.ts'

/** One request of an operation. */
export interface ShownAttempt {
  exchange: UncountedExchange
  said: Said
  /** The transaction that this request itself caused, once it is booked. */
  booked: Transaction | undefined
  /** True if its transaction stands in a block and failed. */
  reverted: boolean
}

/** Facts about one operation, or about several that are shown as one, from which its row is made. */
export interface OperationFacts {
  /** Oldest first. */
  attempts: readonly ShownAttempt[]
  operation: UncountedExchange['operation']
  tenant: string | null
  external_id: string | null
  portfolio_id: string | null
  portfolio: Portfolio | undefined
  /** Minor units, a digit string; null if no request shows it. */
  amount_minor: string | null
  /** As sent, the first one first. */
  keys: string[]
  /** Its transactions in the ledger, oldest first. */
  booked: readonly Transaction[]
  /** How often it was carried out. */
  times: number
}

/** Reads the facts of an operation: what its requests show, and what the ledger has of it. */
export async function readOperationFacts(
  exchanges: readonly UncountedExchange[],
  store: Store,
): Promise<OperationFacts> {
  const [first] = exchanges
  const operation = first?.operation ?? null
  const ids = [...new Set(exchanges.flatMap(({ transfer }) => transfer?.transaction_id ?? []))]
  const found = await Promise.all(ids.map((id) => store.get('transactions', id)))
  const booked = found.filter((one): one is Transaction => one !== undefined)
  const portfolio_id = portfolioIdOf(operation, exchanges, booked)
  const portfolio = portfolio_id === null ? undefined : await store.get('portfolios', portfolio_id)
  return {
    attempts: exchanges.map((exchange) => attemptOf(exchange, booked)),
    operation,
    tenant: exchanges.find(({ tenant }) => tenant !== null)?.tenant ?? null,
    external_id: exchanges.find(({ external_id }) => external_id !== null)?.external_id ?? null,
    portfolio_id,
    portfolio,
    amount_minor: asked(exchanges, 'amount_minor'),
    keys: [
      ...new Map(
        exchanges.flatMap(({ idempotency }) =>
          idempotency ? [[idempotency.key.toLowerCase(), idempotency.key] as const] : [],
        ),
      ).values(),
    ],
    booked,
    times: operation === 'create_portfolio' ? made(exchanges).size : booked.length,
  }
}

/** Names an amount: "250.00 USDC", or in minor units where the token is unknown. */
export function amountOf({ portfolio }: Pick<OperationFacts, 'portfolio'>, minor: string): string {
  if (!portfolio || !/^\d{1,78}$/.test(minor)) return `${shorten(minor, 40)} minor units`
  return `${amountInWords(BigInt(minor), portfolio.token_decimals)} ${portfolio.token_symbol}`
}

function attemptOf(exchange: UncountedExchange, booked: readonly Transaction[]): ShownAttempt {
  const { transfer, response, refusal, idempotency } = exchange
  const own = idempotency?.use === 'first' || idempotency === null
  const code = response?.code ?? refusal?.code
  const ownBooked = own ? booked.find(({ id }) => id === transfer?.transaction_id) : undefined
  const isSettled = transfer?.steps.some(({ step }) => step === 'settled') ?? false
  const isFailed = code === 'transaction_reverted' || (isSettled && ownBooked === undefined)
  return {
    exchange,
    said: saidBy(exchange),
    booked: ownBooked,
    reverted: own && isFailed && transfer?.tx_hash != null,
  }
}

function portfolioIdOf(
  operation: UncountedExchange['operation'],
  exchanges: readonly UncountedExchange[],
  booked: readonly Transaction[],
): string | null {
  if (operation === 'create_portfolio') return [...made(exchanges)][0] ?? null
  if (operation !== 'deposit' && operation !== 'withdraw') return null
  return booked[0]?.portfolio_id ?? asked(exchanges, 'portfolio_id')
}

/** Ids of the portfolios that successful answers name, whether or not they arrived. */
function made(exchanges: readonly UncountedExchange[]): Set<string> {
  const ids = exchanges.flatMap(({ response }) => {
    const id = response && response.status < 300 ? jsonObject(response.body)?.portfolio_id : undefined
    return typeof id === 'string' ? [id] : []
  })
  return new Set(ids)
}

/** The first text of that name in a request's body. */
function asked(exchanges: readonly UncountedExchange[], name: string): string | null {
  for (const { request, operation } of exchanges) {
    if (operation !== 'deposit' && operation !== 'withdraw') continue
    const value = request.body_cut ? undefined : jsonObject(request.body)?.[name]
    if (typeof value === 'string') return value
  }
  return null
}
