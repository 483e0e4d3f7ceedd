// undici with its RetryAgent, and once more around it for what that does not repeat: a body that breaks off or cannot be read.
import { Agent, RetryAgent, request } from 'undici'
import { carryOutAll, PASSING, requestFor } from '../carry-out-all.mjs'

export default async function undiciClient(app) {
  const agent = new Agent()
  const dispatcher = new RetryAgent(agent, {
    methods: ['POST'],
    statusCodes: PASSING,
    maxRetries: 6,
    minTimeout: 20,
    throwOnError: false,
  })
  try {
    return await carryOutAll(app, async (order, key) => {
      const { url, body } = requestFor(app, order)
      let renewed = false
      for (let attempt = 1; ; attempt++) {
        try {
          const headers = { ...app.tokens, 'idempotency-key': key, 'content-type': 'application/json' }
          const answer = await request(url, { dispatcher, method: 'POST', headers, body: JSON.stringify(body) })
          await answer.body.json()
          if (answer.statusCode === 401 && !renewed) {
            renewed = true
            await app.renew()
          } else if (!PASSING.includes(answer.statusCode)) return answer.statusCode
        } catch (error) {
          if (attempt === 6) throw error
        }
      }
    })
  } finally {
    await agent.destroy()
  }
}
