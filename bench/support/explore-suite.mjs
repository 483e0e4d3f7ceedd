// A suite of two seconds with ten requests, right in all that explore tries. Plain fetch.
import { setTimeout as sleep } from 'node:timers/promises'

const { env } = process
/** Milliseconds of pause, so that all of it takes about two seconds. */
const PAUSE = 180
const user = 'bench'
let idpToken

async function tokens() {
  const { YIELD_CLIENT_ID: client_id, YIELD_CLIENT_SECRET: client_secret, YIELD_SCOPE: scope } = env
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
  idpToken ??= (await read(fetch(env.YIELD_AUTH_URL, { method: 'POST', body, signal: AbortSignal.timeout(6000) })))
    .access_token
  const minting = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ external_id: user }),
  }
  const { token } = await (await fetch(`${env.YIELD_CONTROL_URL}/tenants/acme/user_tokens`, minting)).json()
  return { authorization: `Bearer ${idpToken}`, 'x-user-token': token }
}

async function read(asked) {
  const passing = (error, wait = 50) => Object.assign(error, { wait })
  const response = await asked.catch((error) => Promise.reject(passing(error)))
  const body = await response.json().catch((error) => Promise.reject(passing(error)))
  if (response.ok) return body
  if (response.status === 401) idpToken = undefined
  const error = Object.assign(new Error(`${response.status} ${body.code}`), { code: body.code })
  const mayPass = response.status === 401 || response.status === 429 || response.status >= 500
  throw mayPass ? passing(error, 1000 * Number(response.headers.get('retry-after') ?? 0.05)) : error
}

async function ask(method, path, content) {
  await sleep(PAUSE)
  const key = crypto.randomUUID()
  for (let attempt = 1; ; attempt++) {
    try {
      const headers = {
        ...(await tokens()),
        'idempotency-key': key,
        ...(content && { 'content-type': 'application/json' }),
      }
      const init = {
        method,
        headers,
        signal: AbortSignal.timeout(6000),
        ...(content && { body: JSON.stringify(content) }),
      }
      return await read(fetch(`${env.YIELD_BASE_URL}/v1/partner/${path}`, init))
    } catch (error) {
      if (error.wait === undefined || attempt === 6) throw error
      await sleep(error.wait)
    }
  }
}

/** A transfer that was reverted is a new one. */
async function transfer(way, portfolio_id, amount_minor) {
  const send = () => ask('POST', `end_users/${user}/${way}`, { portfolio_id, amount_minor })
  return send().catch((error) => (error.code === 'transaction_reverted' ? send() : Promise.reject(error)))
}

const { data } = await ask('GET', 'pools?limit=100')
const { chain_id, token_address, market_address, protocol } = data.find(({ pool_id }) => pool_id === 'aave-usdc')
await ask('POST', 'end_users', { external_id: user })
const place = { name: 'Bench', chain_id, token_address, market_address, protocol }
const { portfolio_id } = await ask('POST', `end_users/${user}/portfolios`, place)
await transfer('deposit', portfolio_id, '1000000')
await transfer('deposit', portfolio_id, '2000000')
await transfer('withdraw', portfolio_id, '500000')
await ask('GET', `end_users/${user}/portfolios?limit=10`)
await ask('GET', `end_users/${user}/transactions?limit=10`)
await ask('GET', 'pools?limit=10')
