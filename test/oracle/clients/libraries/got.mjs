// got: its own retries, also of POST, and once more around it for what it does not retry: a body that cannot be read.
import { Agent } from 'node:http'
import got, { HTTPError } from 'got'
import { carryOutAll, PASSING, requestFor } from '../carry-out-all.mjs'

export default function gotClient(app) {
  const client = got.extend({
    agent: { http: new Agent({ keepAlive: true }) },
    timeout: { request: 90_000 },
    retry: {
      limit: 6,
      methods: ['POST'],
      statusCodes: PASSING,
      calculateDelay: ({ attemptCount, computedValue, retryAfter }) =>
        computedValue === 0 ? 0 : (retryAfter ?? 20 * attemptCount),
    },
  })
  return carryOutAll(app, async (order, key) => {
    const { url, body } = requestFor(app, order)
    let renewed = false
    for (let attempt = 1; ; attempt++) {
      try {
        const headers = { ...app.tokens, 'idempotency-key': key }
        const { statusCode, body: text } = await client.post(url, { json: body, headers })
        JSON.parse(text)
        return statusCode
      } catch (error) {
        const status = error instanceof HTTPError ? error.response.statusCode : undefined
        if (status === 401 && !renewed) await app.renew()
        else if (status !== undefined && !PASSING.includes(status)) return status
        else if (attempt === 4) throw error
        renewed ||= status === 401
      }
    }
  })
}
