// A worker in small: one deposit under a key that it stores first. It notes its process id. Right, but for what the environment says.
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fetch } from '../../helpers/light-fetch.mjs'

const { env } = process
const place = `${env.STATE_DIR}/${env.YIELD_CLIENT_ID}`
appendFileSync(`${env.STATE_DIR}/pids`, `${process.pid}\n`)
writeFileSync(`${place}.pid`, String(process.pid))
if (env.LOCK) {
  if (existsSync(`${place}.lock`)) process.exit(75)
  writeFileSync(`${place}.lock`, '')
}
const isAgain = existsSync(`${place}.json`)
const job = isAgain ? JSON.parse(readFileSync(`${place}.json`, 'utf8')) : { key: crypto.randomUUID() }
const save = () => writeFileSync(`${place}.json`, JSON.stringify(job))
if (env.EVERY_START) Object.assign(job, { key: crypto.randomUUID(), done: false })
save()
if (isAgain && env.AGAIN === 'ignores') {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => appendFileSync(`${env.STATE_DIR}/ignored`, 'x'))
  writeFileSync(`${env.STATE_DIR}/deaf`, '')
  setInterval(() => undefined, 1000)
  await new Promise(() => undefined)
}
if (isAgain && env.AGAIN === 'ends') process.exit(0)

const json = { 'content-type': 'application/json' }
const post = (url, body, headers = {}) => fetch(url, { method: 'POST', body, headers })
const mine = `${env.YIELD_BASE_URL}/v1/partner/end_users/alice`
async function tokens() {
  const form = { grant_type: 'client_credentials', client_id: env.YIELD_CLIENT_ID, scope: env.YIELD_SCOPE }
  const body = new URLSearchParams({ ...form, client_secret: env.YIELD_CLIENT_SECRET })
  const { access_token } = await (await post(env.YIELD_AUTH_URL, body)).json()
  const claims = JSON.stringify({ external_id: 'alice' })
  const minted = await post(`${env.YIELD_CONTROL_URL}/tenants/acme/user_tokens`, claims, json)
  return { ...json, authorization: `Bearer ${access_token}`, 'x-user-token': (await minted.json()).token }
}

/** Until the deposit has moved, which no request to the service shows meanwhile. */
async function untilMoved() {
  while (!(await (await fetch(`${env.YIELD_CONTROL_URL}/audited_money`)).text()).includes('"1000000"')) {
    await new Promise((wake) => setTimeout(wake, 20))
  }
  process.exit(0)
}

if (!job.done) {
  const headers = await tokens()
  if (isAgain && env.AGAIN === 'looks') {
    await (await fetch(`${mine}/transactions?limit=100`, { headers })).json()
    await untilMoved()
  }
  if (isAgain && env.AGAIN === 'asks-otherwise') {
    await (await fetch(`${env.YIELD_BASE_URL}/v1/partner/pools`, { headers })).json()
    await untilMoved()
  }
  // Stored, so that a second start does not look.
  job.portfolio ??= (await (await fetch(`${mine}/portfolios`, { headers })).json()).data[0].portfolio_id
  save()
  const body = JSON.stringify({ portfolio_id: job.portfolio, amount_minor: '1000000' })
  for (;;) {
    const answer = await post(`${mine}/deposit`, body, { ...headers, 'idempotency-key': job.key })
    if (answer.ok) break
    if (answer.status !== 409) process.exit(1)
  }
  job.done = true
  save()
}
if (env.LOCK) rmSync(`${place}.lock`)
