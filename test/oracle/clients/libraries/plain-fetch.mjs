// A client in 35 lines of fetch.
import { randomUUID } from 'node:crypto'
import { PASSING, requestFor } from '../carry-out-all.mjs'

const pause = (ms) => new Promise((wake) => setTimeout(wake, ms))

/** @returns the status of a final answer: the same key goes along until there is one. */
async function send(app, order, key) {
  const { url, body } = requestFor(app, order)
  let renewed = false
  for (let attempt = 1; attempt <= 8; attempt++) {
    let wait = 10 * 2 ** attempt
    try {
      await app.keepFresh()
      const headers = { ...app.tokens, 'idempotency-key': key, 'content-type': 'application/json' }
      const response = await app.fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      const { tx_hash, code } = await response.json()
      if (response.ok && tx_hash) return response.status
      if (response.status === 401 && !renewed) await app.renew()
      else if (!response.ok && code && !PASSING.includes(response.status)) return response.status
      renewed ||= response.status === 401
      wait = 1000 * Number(response.headers.get('retry-after') ?? wait / 1000)
    } catch {
      // No answer, or half of one: the transfer may have happened, and the same key says.
    }
    await pause(wait)
  }
  throw new Error(`${order.id} is open`)
}

export default async function plainFetch(app) {
  await app.setUp()
  for (const order of app.orders) {
    const status = await send(app, order, randomUUID()).catch(() => undefined)
    if (status !== undefined) order.state = status < 300 ? 'done' : 'failed'
  }
  return app.orders.some(({ state }) => state === 'open') ? 1 : 0
}
