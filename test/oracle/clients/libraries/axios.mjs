// axios with an interceptor that sends a request again as it was.
import { Agent } from 'node:http'
import axios, { isAxiosError } from 'axios'
import { carryOutAll, PASSING, requestFor } from '../carry-out-all.mjs'

const pause = (ms) => new Promise((wake) => setTimeout(wake, ms))

function clientOf(app) {
  const client = axios.create({ httpAgent: new Agent({ keepAlive: true }), timeout: 90_000 })
  const again = async (config, wait) => {
    config.attempt = (config.attempt ?? 1) + 1
    if (config.attempt > 8) throw new Error('no answer after eight attempts')
    await pause(wait || 20 * config.attempt)
    // axios made text of it, and would make text of that text.
    return client.request({ ...config, data: JSON.parse(config.data) })
  }
  client.interceptors.response.use(
    // A body that is cut short is text to axios: it says nothing.
    (response) => (typeof response.data === 'object' ? response : again(response.config)),
    async (error) => {
      if (!isAxiosError(error) || !error.config) throw error
      const { config, response } = error
      // A body that breaks off comes with the status that it had.
      if (!response || response.status < 400 || PASSING.includes(response.status))
        return again(config, 1000 * Number(response?.headers['retry-after'] ?? 0))
      if (response.status !== 401 || config.renewed) throw error
      await app.renew()
      Object.assign(config.headers, app.tokens)
      return again({ ...config, renewed: true })
    },
  )
  return client
}

export default function axiosClient(app) {
  const client = clientOf(app)
  return carryOutAll(app, async (order, key) => {
    const { url, body } = requestFor(app, order)
    try {
      return (await client.post(url, body, { headers: { ...app.tokens, 'idempotency-key': key } })).status
    } catch (error) {
      if (error.response) return error.response.status
      throw error
    }
  })
}
