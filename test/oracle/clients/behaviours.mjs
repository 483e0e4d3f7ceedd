// The workers by name: right ones, and wrong ones with one mistake each. What becomes of them is in ../table.
import { randomUUID } from 'node:crypto'
import { ORDERS, pause } from './app.mjs'
import { expecting, halfClosing, unread } from './raw.mjs'
import { worker } from './rules.mjs'
import * as story from './stories.mjs'

const failed = () => 'failed'
const open = () => 'open'
const anew = () => 'anew'

/** Every failure that may pass, a refusal of the token included. */
const whenever = (rule) => ({ denied: rule, limited: rule, failure: rule, nothing: rule })
/** No answer, or one that says nothing. */
const unanswered = (rule) => ({ failure: rule, nothing: rule })

const storesKey = { key: (_, order) => (order.key ??= randomUUID()) }
const oneKey = { key: (app) => (app.storage.key ??= randomUUID()) }
const isOpen = ({ state }) => state === 'open'

/** One attempt a start, but for a token that has to be renewed. */
const unfinished = { ...unanswered(open), limited: open }

const looked = async ({ app, order }) => (await app.listed(order)).length > 0
const lookedLong = ({ app, order }) => story.looking(() => looked({ app, order }))

const RIGHT_ONES = {
  'same-key': worker(),
  'key-from-order': worker({ key: (_, { id }) => story.keyFrom(id) }),
  'later-on-429': worker({ limited: failed }),
  'resends-at-once': worker({ pause: 1 }),
  'short-timeout': worker({ wish: { timeout: 3000 } }),
  'looks-in-list': worker(unanswered(async (told) => ((await lookedLong(told)) ? 'done' : 'again'))),
  'reads-balance': story.readsBalance,
  'reads-chain': story.readsChain,
  'renews-in-time': worker({ settled: () => pause(2500) }),
  'statement-by-pages': worker({ finish: (app) => app.statement(1) }),
  outbox: worker({ ...storesKey, ...unfinished, exitCode: 0 }),
  'crash-only': worker({ ...storesKey, ...unfinished, stop: isOpen }),
  'saga-looks-first': worker(unanswered(async (told) => ((await lookedLong(told)) ? story.takeBack(told) : 'again'))),
  'pays-back': worker({ ...unanswered(({ attempt }) => (attempt === 1 ? 'anew' : 'again')), finish: story.paysBack }),
  'suite-asserts-refusal': worker({ finish: story.withdrawsTooMuch }),
  'suite-sends-another-body': worker({ ...storesKey, finish: story.sendsAnotherBody }),
  'suite-moves-clock': worker({ ...storesKey, finish: story.sendsAgainNextDay }),
  'suite-repeats-tests': worker({ ...whenever(anew), refused: anew, attempts: 3 }),
  'equal-orders': worker(),
  'equal-orders-at-once': story.atOnce,
  'second-worker-joins': story.twice(randomUUID),
  'customers-at-once': story.customersAtOnce,
  'one-key-for-both': worker(oneKey),
  'half-closing': worker({ wish: { over: halfClosing }, attempts: 1 }),
  'expects-continue': worker({ wish: { over: expecting } }),
}

const WRONG_ONES = {
  'fresh-key': worker(whenever(anew)),
  'fresh-key-on-withdraw': worker(unanswered(({ order }) => (order.type === 'withdraw' ? 'anew' : 'again'))),
  'fresh-key-without-pause': worker({ ...unanswered(anew), attempts: 40, pause: 1 }),
  'key-per-second': worker({ key: story.keyPerSecond, ...unanswered(anew), pause: 1 }),
  'key-per-start': worker({ ...unfinished, stop: isOpen }),
  'key-from-body': worker({ key: (_, { type, amount }) => story.keyFrom(type + amount) }),
  'key-for-everything': worker(oneKey),
  'requeues-under-new-key': worker(unanswered(({ attempt }) => (attempt === 3 ? 'anew' : 'again'))),
  'two-workers': story.twice(),
  'polls-once': worker(unanswered(async (told) => ((await looked(told)) ? 'done' : 'anew'))),
  'new-portfolio': worker(unanswered(story.inAnotherPortfolio)),
  'another-amount': worker(unanswered(story.lessAFee)),
  'blind-saga': worker(unanswered((told) => story.takeBack(told))),
  'partial-refund': worker(unanswered((told) => story.takeBack(told, BigInt(told.order.amount) / 2n))),
  'refund-on-any-error': worker(whenever(failed)),
  'refund-on-timeout': worker({ wish: { timeout: 3000 }, nothing: ({ answer }) => (answer.late ? 'failed' : 'again') }),
  'refund-on-server-error': worker({ failure: failed }),
  'refund-on-broken-connection': worker({ nothing: failed }),
  'refund-when-exhausted': worker({ attempts: 2, exhausted: failed }),
  'refund-after-one-look': worker(unanswered(async (told) => ((await looked(told)) ? 'done' : 'failed'))),
  'refund-with-statement': worker({ ...whenever(failed), finish: (app) => app.statement() }),
  'refund-when-denied': worker({ denied: failed }),
  'leaves-order-open': worker({ ...whenever(open), exitCode: 0 }),
  'skips-later-orders': worker({ ...whenever(failed), stop: ({ state }) => state === 'failed', exitCode: 0 }),
  'fire-and-forget': worker({ ...whenever(() => 'done'), refused: () => 'done' }),
  'takes-422-for-done': worker({ refused: () => 'done' }),
  'takes-status-for-answer': worker({ nothing: ({ answer }) => (answer.status === 200 ? 'done' : 'again') }),
  'never-reads-answer': worker({ wish: { over: unread }, ...unanswered(failed) }),
  'suite-resets-before': story.before('POST', 'reset', worker(whenever(anew))),
  'suite-resets-afterwards': worker({ ...whenever(anew), finish: (app) => story.control(app, 'POST', 'reset') }),
  'suite-clears-faults': story.before('DELETE', 'faults', worker(whenever(anew))),
  'suite-deletes-requests': worker({ ...whenever(anew), finish: (app) => story.control(app, 'DELETE', 'requests') }),
  'ten-thousand-afterwards': worker({ ...whenever(anew), finish: story.tenThousandRequests }),
}

/** Every worker: an application in, an exit code out. */
export const BEHAVIOURS = { ...RIGHT_ONES, ...WRONG_ONES }

const EQUAL = ['order-1', 'order-2'].map((id) => ({ id, type: 'deposit', amount: '100000000' }))
const OF_EQUAL_ORDERS = ['equal-orders', 'equal-orders-at-once', 'key-from-body']

/** The orders that its customers have given. */
export function ordersOf(name) {
  if (OF_EQUAL_ORDERS.includes(name)) return EQUAL
  return name === 'one-key-for-both' ? ORDERS.filter(({ id }) => id !== 'order-2') : ORDERS
}
