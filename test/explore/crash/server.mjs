// A partner's server in small: it deposits what is asked of it, and after a start what was left open. Right, but for what MISTAKE says.
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fetch } from '../../helpers/light-fetch.mjs'

const { env } = process
const mistake = env.MISTAKE ?? ''
appendFileSync(`${env.STATE_DIR}/pids`, `${process.pid}\n`)
const file = `${env.STATE_DIR}/${env.YIELD_CLIENT_ID}.json`
if (existsSync(`${file}.lock`)) process.exit(75)
const jobs = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
const user = 'alice'
const json = { 'content-type': 'application/json' }
const post = (url, body, headers = {}) => fetch(url, { method: 'POST', body, headers })

function save() {
  writeFileSync(`${file}.new`, JSON.stringify(jobs))
  renameSync(`${file}.new`, file)
}

let headers
async function tokens() {
  if (headers) return headers
  const form = { grant_type: 'client_credentials', client_id: env.YIELD_CLIENT_ID, scope: env.YIELD_SCOPE }
  const body = new URLSearchParams({ ...form, client_secret: env.YIELD_CLIENT_SECRET })
  const { access_token } = await (await post(env.YIELD_AUTH_URL, body)).json()
  const claims = JSON.stringify({ external_id: user })
  const minted = await post(`${env.YIELD_CONTROL_URL}/tenants/acme/user_tokens`, claims, json)
  headers = { ...json, authorization: `Bearer ${access_token}`, 'x-user-token': (await minted.json()).token }
  return headers
}

async function deposit(job) {
  if (mistake === 'lock') writeFileSync(`${file}.lock`, '')
  const mine = `${env.YIELD_BASE_URL}/v1/partner/end_users/${user}`
  const [portfolio] = (await (await fetch(`${mine}/portfolios`, { headers: await tokens() })).json()).data
  const body = JSON.stringify({ portfolio_id: portfolio.portfolio_id, amount_minor: job.amount })
  const key = mistake === 'key-per-start' ? crypto.randomUUID() : job.key
  const answer = await post(`${mine}/deposit`, body, { ...(await tokens()), 'idempotency-key': key })
  if (answer.status === 409) return deposit(job)
  job.state = answer.ok ? 'done' : 'failed'
  save()
  rmSync(`${file}.lock`, { force: true })
}

async function work() {
  for (const job of jobs) if (job.state === 'open') await deposit(job)
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  if (request.url === '/health') return response.end('well')
  if (request.method === 'POST') {
    const { id, amount } = JSON.parse(body)
    if (!jobs.some((job) => job.id === id)) {
      jobs.push({ id, amount, key: crypto.randomUUID(), state: 'open' })
      save()
      await work()
    }
  }
  response.end(JSON.stringify(jobs))
})
server.listen(Number(env.PORT ?? env.YIELD_APP_PORT), '127.0.0.1')
if (mistake !== 'forgets') await work()
if (mistake === 'never-rests')
  setInterval(async () => fetch(`${env.YIELD_BASE_URL}/v1/partner/pools`, { headers: await tokens() }), 200)
if (mistake === 'new-work') await deposit({ id: 'other', amount: '7000000', key: crypto.randomUUID() })
