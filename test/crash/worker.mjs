// worker.mjs: carries out three orders and may be killed at any moment, unless MISTAKE names what it does wrong (mistakes.mjs).
// Started again, it goes on. Exit code 0: nothing is open; 75: it gave up for now. `worker.mjs books` prints what it believes.
//
//   MISTAKE=key-in-memory yield-sandbox explore --books 'node worker.mjs books' -- node worker.mjs
import { randomUUID } from 'node:crypto'
import { App, ORDERS, pause } from '../oracle/clients/app.mjs'
import { MISTAKES, RIGHT } from './mistakes.mjs'
import { Notes } from './notes.mjs'

const ATTEMPTS = 5
const POOL = 'aave-usdc'

const { MISTAKE } = process.env
if (MISTAKE && !Object.hasOwn(MISTAKES, MISTAKE)) {
  console.error(`MISTAKE "${MISTAKE}" is not known; there are: ${Object.keys(MISTAKES).join(', ')}`)
  process.exit(2)
}
const rules = { ...RIGHT, ...MISTAKES[MISTAKE] }

/** The application of the other examples, with a portfolio that is asked for under a kept key. */
class Customer extends App {
  #notes

  constructor(notes) {
    super(process.env, { storage: { portfolio_id: notes.get('portfolio.id') } })
    this.#notes = notes
  }

  async makePortfolio() {
    const key = this.#notes.keep('portfolio.key', randomUUID())
    const { portfolio_id } = await this.insist('POST', `/end_users/${this.user}/portfolios`, {
      body: this.storage.place,
      key,
    })
    return this.#notes.keep('portfolio.id', portfolio_id)
  }
}

class Worker {
  notes = new Notes(process.env)
  app = new Customer(this.notes)
  orders = ORDERS
  /** Keys that are not on the disk: of wrong workers. */
  keys = new Map()

  stateOf = ({ id }) => this.notes.get(`${id}.state`) ?? 'open'

  settle({ id }, state) {
    this.notes.keep(`${id}.state`, state)
  }

  async run() {
    await rules.begin(this)
    await this.app.setUp()
    for (const order of rules.orders(this)) {
      if (!rules.isOpen(this, order) || !(await rules.prepare(this, order))) continue
      if (!(await this.carryOut(order))) return 75
    }
    await this.app.balance()
    return 0
  }

  /** @returns false if the order is open as before */
  async carryOut(order) {
    const key = await rules.key(this, order)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const answer = await this.app.transfer(order, key)
      const next = outcomeOf(answer) ?? rules.unclear(this, order, answer)
      if (next) {
        rules.answered(this, order)
        this.settle(order, next)
        return true
      }
      if (answer.kind === 'denied') await this.app.renew()
      await pause(answer.wait || 25 * 2 ** attempt)
    }
    return false
  }

  books() {
    const back = this.orders.map(({ id, amount }) => ({ id: `${id}-back`, type: 'withdraw', amount }))
    const paidBack = back.filter(({ id }) => this.notes.get(`${id}.key`) !== undefined)
    return [...this.orders, ...paidBack].map((order) => {
      const key = this.notes.get(`${order.id}.key`)
      const { type, amount: amount_minor } = order
      const place = { external_id: this.app.user, pool_id: POOL }
      return { ...place, type, amount_minor, state: this.stateOf(order), ...(key && { idempotency_key: key }) }
    })
  }
}

/** Only two answers close an order: success, and the refusal that is the key's outcome. */
function outcomeOf({ kind, status }) {
  if (kind === 'done') return 'done'
  return status === 422 ? 'failed' : undefined
}

const worker = new Worker()
if (process.argv[2] === 'books') console.log(JSON.stringify({ form: 1, transfers: worker.books() }))
else process.exitCode = await worker.run()
