// Eight end users open a portfolio and deposit, all at once: of one tenant, or with TENANTS=2 of two, whose end users have the same names. Right,
// but for MISTAKE=fresh-key. With RANDOM_USERS their names are new each time.
import { fetch } from '../../helpers/light-fetch.mjs'

const { env } = process
const { tenants } = await (await fetch(`${env.YIELD_CONTROL_URL}/credentials`)).json()
const several = tenants.slice(0, Number(env.TENANTS ?? 1))
const base = `${env.YIELD_BASE_URL}/v1/partner`

/** Repeats until there is a good answer, with one key for all attempts. */
async function ask(path, { method = 'GET', headers, content, form }) {
  let key = crypto.randomUUID()
  const body = form ? new URLSearchParams(form) : content && JSON.stringify(content)
  const type = content && { 'content-type': 'application/json' }
  for (let attempt = 1; ; attempt++) {
    try {
      if (env.MISTAKE === 'fresh-key') key = crypto.randomUUID()
      const response = await fetch(path, { method, body, headers: { ...headers, ...type, 'idempotency-key': key } })
      const answer = await response.json()
      if (response.ok) return answer
      throw new Error(`${response.status} ${answer.code}`)
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}

async function logIn({ slug, client_id, client_secret }) {
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: env.YIELD_SCOPE }
  const { access_token } = await ask(env.YIELD_AUTH_URL, { method: 'POST', form })
  const headers = { authorization: `Bearer ${access_token}` }
  const { data } = await ask(`${base}/pools?limit=100`, { headers })
  const { chain_id, token_address, market_address } = data.find(({ pool_id }) => pool_id === 'aave-usdc')
  return { slug, headers, pool: { chain_id, token_address, market_address } }
}

async function save({ slug, headers: access, pool }, i) {
  const external_id = env.RANDOM_USERS ? crypto.randomUUID() : `user-${i}`
  await ask(`${base}/end_users`, { method: 'POST', headers: access, content: { external_id } })
  const minting = { method: 'POST', content: { external_id } }
  const { token } = await ask(`${env.YIELD_CONTROL_URL}/tenants/${slug}/user_tokens`, minting)
  const headers = { ...access, 'x-user-token': token }
  const mine = `${base}/end_users/${external_id}`
  const { portfolio_id } = await ask(`${mine}/portfolios`, {
    method: 'POST',
    headers,
    content: { name: 'Jar', ...pool },
  })
  const content = { portfolio_id, amount_minor: `${i}000000` }
  await ask(`${mine}/deposit`, { method: 'POST', headers, content })
}

const sessions = await Promise.all(several.map(logIn))
const each = Array.from({ length: 8 / sessions.length }, (_, i) => i + 1)
await Promise.all(sessions.flatMap((session) => each.map((i) => save(session, i))))
