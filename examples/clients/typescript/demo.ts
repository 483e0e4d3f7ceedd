// A small suite: moves some money of one end user and checks that every unit is where it should be.
//
//   yield-sandbox exec --scenario dropped-deposit -- npx tsx examples/clients/typescript/demo.ts
//
// Node 22.18 or later runs it without tsx.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { YieldClient } from './client.ts'
import { ApiError } from './errors.ts'
import type { Transfer } from './types.ts'

const client = new YieldClient({
  baseUrl: env('YIELD_BASE_URL'),
  authUrl: env('YIELD_AUTH_URL'),
  clientId: env('YIELD_CLIENT_ID'),
  clientSecret: env('YIELD_CLIENT_SECRET'),
  scope: env('YIELD_SCOPE'),
  audience: env('YIELD_AUDIENCE'),
  issuer: env('YIELD_ISSUER'),
  keyId: env('YIELD_KEY_ID'),
  privateKeyPem: env('YIELD_PRIVATE_KEY_PEM'),
  ...(process.env.DEMO_ATTEMPTS && { attempts: Number(process.env.DEMO_ATTEMPTS) }),
  onNotice: (notice) => console.warn(`notice of the service: ${notice}`),
})
const user = process.env.YIELD_EXTERNAL_ID || `demo-${randomUUID()}`
const whole = 10n ** 6n

const pools = await all(client.pools(2))
const pool = pools.find(({ token_symbol }) => token_symbol === 'USDC')
if (!pool) throw new Error('there is no pool of USDC')
await client.createEndUser(user)
const { portfolio_id } = await client.createPortfolio(user, pool, 'Rainy day')

const expected = new Map<string, bigint>()
for (const amount of [250n * whole, 100n * whole, 50n * whole]) {
  const { tx_hash } = await newAttemptWhenReverted(() => client.deposit(user, portfolio_id, amount))
  expected.set(tx_hash, amount)
}
const { tx_hash } = await newAttemptWhenReverted(() => client.withdraw(user, portfolio_id, 120n * whole))
expected.set(tx_hash, -120n * whole)

const refusal = await client.withdraw(user, portfolio_id, 10n ** 15n).catch((error: unknown) => error)
check(
  'more than there is cannot be withdrawn',
  refusal instanceof ApiError && refusal.code.startsWith('insufficient_balance'),
)

// Long enough for an access token of a minute to become too old.
await sleep(1000 * Number(process.env.DEMO_PAUSE || 3))
const portfolio = (await all(client.portfolios(user, 1))).find((one) => one.portfolio_id === portfolio_id)
const moved = (await all(client.transactions(user, 2))).filter((one) => one.portfolio_id === portfolio_id)
check('every transfer is listed once', moved.length === expected.size)
check(
  'every amount is right',
  moved.every((one) => {
    const amount = expected.get(one.tx_hash)
    return amount !== undefined && BigInt(one.amount_changed) === (amount < 0n ? -amount : amount)
  }),
)
const sum = [...expected.values()].reduce((total, amount) => total + amount, 0n)
// Yield adds to it; the market rounds by a unit or two.
check('the balance is their sum', portfolio !== undefined && BigInt(portfolio.total_balance) >= sum - 5n)

await client.createEndUser(`${user}-neighbour`)
check('a neighbour has none of it', (await all(client.transactions(`${user}-neighbour`))).length === 0)

/** What a person would do who was told that it failed: try anew, which takes a fresh key. */
async function newAttemptWhenReverted(transfer: () => Promise<Transfer>): Promise<Transfer> {
  try {
    return await transfer()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'transaction_reverted') return transfer()
    throw error
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

function check(what: string, holds: boolean): void {
  console.log(`${holds ? 'ok' : 'NOT OK'}: ${what}`)
  if (!holds) process.exitCode = 1
}

function env(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; yield-sandbox exec sets it`)
  return value
}
