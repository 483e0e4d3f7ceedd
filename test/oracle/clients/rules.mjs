// How a worker carries out one order: what it does about each kind of answer. A mistake is one rule that differs.
import { randomUUID } from 'node:crypto'
import { pause } from './app.mjs'

/**
 * The right way. Each rule is given `{ app, order, answer, attempt, lost }` and says what comes next: `again` under the same key,
 * `anew` under another one, or what the application's books then say of the order: `done`, `failed`, `open`.
 */
export const RIGHT = {
  attempts: 6,
  key: () => randomUUID(),
  done: () => 'done',
  refused: () => 'failed',
  limited: () => 'again',
  failure: () => 'again',
  nothing: () => 'again',
  // A refusal says nothing of an attempt whose answer was lost.
  async denied({ app, attempt, lost }) {
    await app.renew()
    return attempt === 1 || lost ? 'again' : 'failed'
  },
  exhausted: () => 'open',
}

/** Carries out one order by these rules, and writes down what it believes. */
export async function carryOut(app, order, rules) {
  let key = order.key ?? (await rules.key(app, order))
  let lost = false
  for (let attempt = 1; ; attempt++) {
    const answer = await app.transfer(order, key, rules.wish)
    if (answer.kind === 'nothing' || answer.kind === 'failure') lost = true
    const context = { app, order, answer, attempt, lost }
    let next = await rules[answer.kind](context)
    if ((next === 'again' || next === 'anew') && attempt >= rules.attempts) next = await rules.exhausted(context)
    if (next !== 'again' && next !== 'anew') {
      order.state = next
      return next
    }
    await pause(answer.wait || (rules.pause ?? 5 * 2 ** attempt))
    if (next === 'anew') key = await rules.key(app, order)
  }
}

/** A worker that differs from the right one so: one order after another, those that are open. Its exit code says whether any is left open. */
export function worker(differences = {}) {
  const rules = { ...RIGHT, ...differences }
  return async (app) => {
    await app.setUp()
    for (const order of app.orders.filter(({ state }) => state === 'open')) {
      await carryOut(app, order, rules)
      await rules.settled?.(order)
      if (rules.stop?.(order)) break
    }
    await rules.finish?.(app)
    if (rules.exitCode !== undefined) return rules.exitCode
    return app.orders.some(({ state }) => state === 'open') ? 1 : 0
  }
}
