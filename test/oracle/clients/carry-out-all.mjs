import { randomUUID } from 'node:crypto'

/**
 * One order after another, for a client that sends each with `send(order, key)`. It resolves to the status of a final answer, and throws
 * where there is none: the order is open then, and the exit code says so.
 */
export async function carryOutAll(app, send) {
  await app.setUp()
  for (const order of app.orders) {
    await app.keepFresh()
    const status = await send(order, randomUUID()).catch(() => undefined)
    if (status !== undefined) order.state = status < 300 ? 'done' : 'failed'
  }
  return app.orders.some(({ state }) => state === 'open') ? 1 : 0
}

/** Where an order goes, and what it says. */
export function requestFor(app, { type, amount }) {
  const body = { portfolio_id: app.storage.portfolio_id, amount_minor: amount }
  return { url: `${app.env.YIELD_BASE_URL}/v1/partner/end_users/${app.user}/${type}`, body }
}

/** Statuses after which the same request may succeed. */
export const PASSING = [408, 429, 500, 502, 503, 504]
