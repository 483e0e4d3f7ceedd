// The tests of that server: one order, sent until the server has it, and then awaited. FRAIL: nothing is sent twice.
import { appendFileSync } from 'node:fs'
import { fetch } from '../../helpers/light-fetch.mjs'

const { env } = process
appendFileSync(`${env.STATE_DIR}/pids`, `${process.pid}\n`)
const url = `http://127.0.0.1:${env.PORT ?? env.YIELD_APP_PORT}`
const order = JSON.stringify({ id: 'order-1', amount: '1000000' })
const pause = () => new Promise((wake) => setTimeout(wake, 50))

for (;;) {
  const answer = await fetch(`${url}/orders`, { method: 'POST', body: order }).catch(() => undefined)
  if (answer?.ok) {
    const jobs = await answer.json()
    if (jobs.length === 1 && jobs[0].state !== 'open') process.exit(jobs[0].state === 'done' ? 0 : 1)
  }
  if (env.FRAIL) process.exit(1)
  await pause()
}
