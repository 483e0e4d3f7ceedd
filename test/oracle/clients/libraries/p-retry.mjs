// p-retry around fetch.
import pRetry, { AbortError } from 'p-retry'
import { carryOutAll, PASSING, requestFor } from '../carry-out-all.mjs'

const pause = (ms) => new Promise((wake) => setTimeout(wake, ms))

export default function pRetryClient(app) {
  return carryOutAll(app, async (order, key) => {
    const { url, body } = requestFor(app, order)
    let denied = 0
    const attempt = async () => {
      const headers = { ...app.tokens, 'idempotency-key': key, 'content-type': 'application/json' }
      const response = await app.fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch((cause) => {
        // A TypeError that is no failure of the network would end it.
        throw new Error('no answer', { cause })
      })
      await response.json()
      if (response.ok) return response.status
      const error = Object.assign(new Error(`answered ${response.status}`), { status: response.status })
      if (response.status === 401 && ++denied === 1) await app.renew()
      else if (!PASSING.includes(response.status)) throw new AbortError(error)
      await pause(1000 * Number(response.headers.get('retry-after') ?? 0))
      throw error
    }
    try {
      return await pRetry(attempt, { retries: 7, minTimeout: 20, factor: 1.5 })
    } catch (error) {
      if (error.status && !PASSING.includes(error.status)) return error.status
      throw error
    }
  })
}
