// A partner's suite in small: nine requests for one end user. Right, but for what MISTAKE says. Needs nothing but Node.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fetch } from '../helpers/light-fetch.mjs'

const { env } = process
const mistake = env.MISTAKE ?? ''
const user = env.RANDOM_USER ? `user-${crypto.randomUUID()}` : (env.USER_NAME ?? 'carol')
const base = `${env.YIELD_BASE_URL}/v1/partner`
const mine = `end_users/${user}`
const pause = (ms) => new Promise((wake) => setTimeout(wake, ms))
const wait = mistake === 'no-timeout' ? {} : { signal: () => AbortSignal.timeout(6000) }

/** The application's own database: a file. It must know which portfolios there are, as databases do. */
const remembered = env.DATABASE && existsSync(env.DATABASE) ? readFileSync(env.DATABASE, 'utf8').trim() : ''

let idpToken
async function tokens() {
  const form = { grant_type: 'client_credentials', client_id: env.YIELD_CLIENT_ID, scope: env.YIELD_SCOPE }
  const body = new URLSearchParams({ ...form, client_secret: env.YIELD_CLIENT_SECRET })
  idpToken ??= (await answer(fetch(env.YIELD_AUTH_URL, { method: 'POST', body, signal: wait.signal?.() }))).access_token
  const minted = await fetch(`${env.YIELD_CONTROL_URL}/tenants/acme/user_tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ external_id: user }),
  })
  return { authorization: `Bearer ${idpToken}`, 'x-user-token': (await minted.json()).token }
}

/** The JSON of a good answer. What may pass is thrown with `again`: milliseconds to wait. */
async function answer(asked) {
  const response = await asked.catch((error) => Promise.reject(Object.assign(error, { again: 50 })))
  const text = await response.text().catch((error) => Promise.reject(Object.assign(error, { again: 50 })))
  let body
  try {
    body = JSON.parse(text)
  } catch {
    throw Object.assign(new Error(`no JSON: ${response.status}`), { again: 50, cut: true })
  }
  if (response.ok) return body
  if (response.status === 401) idpToken = undefined
  const passing =
    [401, 408, 429].includes(response.status) || response.status >= 500 || body.code === 'idempotency_key_in_progress'
  const again = passing ? 1000 * Number(response.headers.get('retry-after') ?? 0.05) : undefined
  throw Object.assign(new Error(`${response.status} ${body.code}`), { again, code: body.code })
}

async function ask(method, path, content) {
  let key = crypto.randomUUID()
  for (let attempt = 1; ; attempt++) {
    try {
      if (mistake === 'fresh-key') key = crypto.randomUUID()
      const headers = {
        ...(await tokens()),
        'idempotency-key': key,
        ...(content && { 'content-type': 'application/json' }),
      }
      const init = { method, headers, signal: wait.signal?.(), ...(content && { body: JSON.stringify(content) }) }
      return await answer(fetch(`${base}/${path}`, init))
    } catch (error) {
      if (mistake === 'fresh-key-on-cut-answer' && error.cut && content?.amount_minor === '1000000000') {
        key = crypto.randomUUID()
      }
      if (error.again === undefined || attempt === 6 || mistake === 'no-retry') throw error
      await pause(error.again)
    }
  }
}

async function transfer(way, portfolio_id, amount_minor) {
  const send = () => ask('POST', `${mine}/${way}`, { portfolio_id, amount_minor })
  return send().catch((error) => {
    if (error.code !== 'transaction_reverted') throw error
    if (mistake === 'swallow-revert') return undefined
    return send()
  })
}

const pools = await ask('GET', 'pools?limit=100')
const { chain_id, token_address, market_address, protocol } = pools.data.find(({ pool_id }) => pool_id === 'aave-usdc')
await ask('POST', 'end_users', { external_id: user })
const place = { name: 'Savings', chain_id, token_address, market_address, protocol }
const { portfolio_id } = await ask('POST', `${mine}/portfolios`, place)
const amounts = env.CONCURRENT ? ['1000000', '2000000', '3000000', '4000000'] : ['1000000000', '250000000']
if (env.CONCURRENT) await Promise.all(amounts.map((amount) => transfer('deposit', portfolio_id, amount)))
else for (const amount of amounts) await transfer('deposit', portfolio_id, amount)
// A second run with the same database deposits what it thinks is missing.
if (remembered) await transfer('deposit', portfolio_id, '7')
if (env.DATABASE) appendFileSync(env.DATABASE, `${portfolio_id}\n`)
await transfer('withdraw', portfolio_id, '500000')
const { data } = await ask('GET', `${mine}/transactions?limit=100`)
await ask('GET', `${mine}/portfolios`)
const listed = data.filter((one) => one.type !== 'yield_harvest').length
if (env.CHECKS !== 'none' && listed !== amounts.length + 1 + (remembered ? 1 : 0)) {
  console.log(`NOT OK: ${listed} transfers`)
  process.exitCode = 1
}
if (env.MARK) writeFileSync(env.MARK, 'ran')
