// What some workers do beside carrying out one order after another.
import { createHash } from 'node:crypto'
import { App, pause } from './app.mjs'
import { carryOut, RIGHT, worker } from './rules.mjs'

/** A key that is the same for the same text. */
export function keyFrom(text) {
  const digits = createHash('sha256').update(text).digest('hex')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`
}

/** A key that changes with the second. */
export async function keyPerSecond() {
  await pause(1020 - (Date.now() % 1000))
  return keyFrom(`second ${Math.floor(Date.now() / 1000)}`)
}

/** Until `seen` says so, for three seconds. */
export async function looking(seen) {
  for (let look = 1; look <= 6; look++) {
    if (await seen()) return true
    await pause(550)
  }
  return false
}

/** A worker that knows the sum of what it put in, and takes an order for carried out when the balance says so. */
export async function readsBalance(app) {
  let sum = 0n
  const worth = ({ type, amount }) => (type === 'deposit' ? BigInt(amount) : -BigInt(amount))
  const look = async ({ order }) => {
    // The market rounds by a unit or two.
    const isThere = (balance) => balance > sum + worth(order) - 10n && balance < sum + worth(order) + 10n
    const moved = await looking(async () => isThere(await app.balance()))
    return moved ? 'done' : 'again'
  }
  const orders = { nothing: look, failure: look }
  return worker({
    ...orders,
    settled: (order) => {
      if (order.state === 'done') sum += worth(order)
    },
  })(app)
}

/** A worker that takes an order for carried out when the chain moved its amount. */
export async function readsChain(app) {
  await app.setUp()
  const before = new Map()
  for (const { amount } of app.orders) before.set(amount, await app.onChain(amount))
  const look = async ({ order: { amount } }) =>
    (await looking(async () => (await app.onChain(amount)) > before.get(amount))) ? 'done' : 'again'
  return worker({ nothing: look, failure: look })(app)
}

/** Does the opposite of an order, and says that the order failed. */
export async function takeBack({ app, order }, amount = order.amount) {
  const type = order.type === 'deposit' ? 'withdraw' : 'deposit'
  await carryOut(app, { id: `${order.id}-back`, type, amount: String(amount) }, RIGHT)
  return 'failed'
}

/** Sends an order for less, as a new one. */
export async function lessAFee({ app, order }) {
  const smaller = { ...order, amount: String(BigInt(order.amount) - 1_000_000n) }
  return carryOut(app, smaller, RIGHT)
}

export async function inAnotherPortfolio({ app }) {
  app.storage.portfolio_id = await app.makePortfolio()
  return 'anew'
}

/** Withdraws one of two where the list shows two of an order. */
export async function paysBack(app) {
  for (const order of app.orders) {
    const [, second] = await app.listed(order)
    if (second) await takeBack({ app, order })
  }
}

/** Expects more than there is to be refused. */
export async function withdrawsTooMuch(app) {
  const order = { id: 'too-much', type: 'withdraw', amount: '1000000000000000' }
  if ((await carryOut(app, order, RIGHT)) !== 'failed') throw new Error('more than there is was withdrawn')
}

/** Expects the key of an order that was carried out to be refused with another amount. */
export async function sendsAnotherBody(app) {
  const { type, key } = app.orders.find(({ state }) => state === 'done')
  const order = { id: 'another-body', type, amount: '7', key }
  if ((await carryOut(app, order, RIGHT)) !== 'failed') throw new Error('a key was taken with another amount')
}

/** Sends its first order again a day later: its key counts no more then. */
export async function sendsAgainNextDay(app) {
  const body = JSON.stringify({ advance: '25h' })
  await control(app, 'POST', 'clock', { headers: { 'content-type': 'application/json' }, body })
  const [order] = app.orders
  const again = { ...order, id: 'next-day' }
  await carryOut(app, again, RIGHT)
  app.orders.push(again)
}

/** All orders at once. */
export async function atOnce(app) {
  await app.setUp()
  await Promise.all(app.orders.map((order) => carryOut(app, order, RIGHT)))
  return 0
}

/** Two workers have the same job at once; `key` is that of the job, or each takes its own. */
export const twice = (key) => async (app) => {
  await app.setUp()
  for (const order of app.orders) {
    const own = key && { key: key() }
    const other = { ...order, ...own }
    await Promise.all([carryOut(app, Object.assign(order, own), RIGHT), carryOut(app, other, RIGHT)])
  }
  return 0
}

/** Customers who know nothing of each other. */
export async function customersAtOnce(app) {
  const names = ['anna', 'bert', 'cleo', 'dora']
  const others = names.map((user) => new App(app.env, { user, fetch: app.fetch }))
  await Promise.all([app, ...others].map((one) => worker()(one)))
  return 0
}

export async function tenThousandRequests(app) {
  const url = `${app.env.YIELD_BASE_URL}/v1/partner/pools?limit=1`
  const ask = async () => {
    for (let count = 0; count < 500; count++) await (await app.fetch(url, { headers: app.tokens })).text()
  }
  await Promise.all(Array.from({ length: 21 }, ask))
}

/** Asks the sandbox itself, as suites do that want a clean table. */
export async function control(app, method, path, init = {}) {
  const response = await app.fetch(`${app.env.YIELD_CONTROL_URL}/${path}`, { method, ...init })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  await response.text()
}

/** A suite that does so before its test. */
export const before = (method, path, suite) => async (app) => {
  await control(app, method, path)
  return suite(app)
}
