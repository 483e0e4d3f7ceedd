// worker.ts: carries out the payments of its outbox, and may be killed at any moment: started again, it goes on. Node 22.18 or later.
// Exit code 0: nothing is open. 75: it gave up for now, and what is open is carried out at its next start.
//
//   yield-sandbox explore --crash --books 'node books.ts' -- node worker.ts
import { ApiError, NoAnswer, OutcomeUnknown } from '../../clients/typescript/errors.ts'
import { Http } from '../../clients/typescript/http.ts'
import type { Page, Pool, Portfolio, Transaction, Transfer } from '../../clients/typescript/types.ts'
import { type Order, Outbox } from './outbox.ts'

const PLACE = { external_id: 'customer-1', pool_id: 'aave-usdc' }
const ORDERS = [
  { id: 1, ...PLACE, type: 'deposit', amount_minor: '250000000' },
  { id: 2, ...PLACE, type: 'deposit', amount_minor: '100000000' },
  { id: 3, ...PLACE, type: 'withdraw', amount_minor: '50000000' },
] as const

const http = new Http({
  baseUrl: env('YIELD_BASE_URL'),
  authUrl: env('YIELD_AUTH_URL'),
  clientId: env('YIELD_CLIENT_ID'),
  clientSecret: env('YIELD_CLIENT_SECRET'),
  scope: env('YIELD_SCOPE'),
  issuer: env('YIELD_ISSUER'),
  audience: env('YIELD_AUDIENCE'),
  keyId: env('YIELD_KEY_ID'),
  privateKeyPem: env('YIELD_PRIVATE_KEY_PEM'),
  // The next start is the long patience.
  attempts: 5,
})
const outbox = new Outbox()
for (const order of ORDERS) outbox.take(order)

try {
  // In their order: a withdrawal may need the deposit before it. The first that stays open ends this start.
  for (const order of outbox.open()) await carryOut(order)
  await compareWithService()
} catch (error) {
  if (![ApiError, NoAnswer, OutcomeUnknown].some((kind) => error instanceof kind)) throw error
  console.error(`not now: ${(error as Error).message}`)
  process.exitCode = 75
}

/** Only two answers close an order: success, and 422, which is the outcome of its key. Any other says nothing of what was asked for before. */
async function carryOut(order: Order): Promise<void> {
  const body = { portfolio_id: await portfolioOf(order), amount_minor: order.amount_minor }
  const { external_id: user, idempotency_key: key } = order
  try {
    // Sent again under the same key after a broken connection, half a body, 408, 409 in progress, 429 and 5xx; after 401 with a new token.
    const { tx_hash } = await http.send<Transfer>({
      method: 'POST',
      path: `${pathOf(user)}/${order.type}`,
      user,
      key,
      body,
    })
    outbox.settle(order.id, 'done', tx_hash)
  } catch (error) {
    if (!isOutcome(error)) throw error
    // To pay it all the same is a new order, for a person to give.
    outbox.settle(order.id, 'failed', error.code)
  }
}

/** A key that was taken for another payment is a mistake of ours, and no outcome of this one. */
function isOutcome(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 422 && !error.code.startsWith('idempotency_key_')
}

/** The customer's portfolio in the pool, made under the key that is kept for it. */
async function portfolioOf({ external_id: user, pool_id }: Order): Promise<string> {
  const { idempotency_key: key, portfolio_id } = outbox.portfolio(user, pool_id)
  if (portfolio_id !== null) return portfolio_id
  const { data } = await http.send<Page<Pool>>({ method: 'GET', path: 'pools', query: { limit: '100' } })
  const pool = data.find((one) => one.pool_id === pool_id)
  if (pool === undefined) throw new Error(`there is no pool ${pool_id}`)
  await http.send({ method: 'POST', path: 'end_users', body: { external_id: user } })
  const { chain_id, token_address, market_address, protocol } = pool
  const body = { name: 'Savings', chain_id, token_address, market_address, protocol }
  const made = await http.send<Portfolio>({ method: 'POST', path: `${pathOf(user)}/portfolios`, user, key, body })
  outbox.opened(user, pool_id, made.portfolio_id)
  return made.portfolio_id
}

/** Prints the balance, and complains of an order that is done here and that the service does not have. */
async function compareWithService(): Promise<void> {
  const { external_id: user } = PLACE
  const { data } = await http.send<Page<Portfolio>>({ method: 'GET', path: `${pathOf(user)}/portfolios`, user })
  for (const { name, total_balance } of data) console.log(`${user}, ${name}: ${total_balance}`)
  const listed = new Set(await hashesOf(user))
  for (const { id, tx_hash } of outbox.done()) {
    if (listed.has(tx_hash)) continue
    console.error(`order ${id} is done here, and ${tx_hash} is not in the list`)
    process.exitCode = 1
  }
}

/** Hashes of all of the user's transactions, page by page. */
async function hashesOf(user: string): Promise<string[]> {
  const hashes: string[] = []
  let cursor: string | null = null
  do {
    const query: Record<string, string> = { limit: '100', ...(cursor !== null && { starting_after: cursor }) }
    const page: Page<Transaction> = await http.send({
      method: 'GET',
      path: `${pathOf(user)}/transactions`,
      query,
      user,
    })
    hashes.push(...page.data.map(({ tx_hash }) => tx_hash))
    cursor = page.next_cursor
  } while (cursor !== null)
  return hashes
}

function pathOf(user: string): string {
  return `end_users/${encodeURIComponent(user)}`
}

function env(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; yield-sandbox exec sets it`)
  return value
}
