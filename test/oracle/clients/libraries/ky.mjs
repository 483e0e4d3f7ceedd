// ky: its own retries, also of POST, and once more around it for what it does not retry: a body that cannot be read.
import ky, { HTTPError } from 'ky'
import { carryOutAll, PASSING, requestFor } from '../carry-out-all.mjs'

export default function kyClient(app) {
  const client = ky.create({
    fetch: app.fetch,
    timeout: 90_000,
    retry: {
      limit: 6,
      methods: ['post'],
      statusCodes: PASSING,
      afterStatusCodes: [429, 503],
      delay: (attempt) => 20 * attempt,
    },
  })
  return carryOutAll(app, async (order, key) => {
    const { url, body } = requestFor(app, order)
    let renewed = false
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await client.post(url, { json: body, headers: { ...app.tokens, 'idempotency-key': key } })
        await response.json()
        return response.status
      } catch (error) {
        const status = error instanceof HTTPError ? error.response.status : undefined
        if (status === 401 && !renewed) await app.renew()
        else if (status !== undefined && !PASSING.includes(status)) return status
        else if (attempt === 4) throw error
        renewed ||= status === 401
      }
    }
  })
}
