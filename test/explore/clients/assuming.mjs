// A client that takes for granted what MISTAKES names, separated by commas; without any, it works with every setting of the service.
import { fetch } from '../../helpers/light-fetch.mjs'

const { env } = process
const mistakes = (env.MISTAKES ?? '').split(',')
const base = mistakes.includes('root')
  ? new URL('/v1/partner', env.YIELD_BASE_URL).href
  : `${env.YIELD_BASE_URL}/v1/partner`
const user = 'dora'

const form = { grant_type: 'client_credentials', client_id: env.YIELD_CLIENT_ID, scope: env.YIELD_SCOPE }
const body = new URLSearchParams({ ...form, client_secret: env.YIELD_CLIENT_SECRET })
const { access_token } = await (await fetch(env.YIELD_AUTH_URL, { method: 'POST', body })).json()
const minted = await fetch(`${env.YIELD_CONTROL_URL}/tenants/acme/user_tokens`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ external_id: user }),
})
const { token } = await minted.json()

async function ask(method, path, content, key = crypto.randomUUID()) {
  const headers = {
    authorization: `Bearer ${access_token}`,
    'x-user-token': token,
    'idempotency-key': key,
    ...(content && { 'content-type': 'application/json' }),
  }
  const response = await fetch(`${base}/${path}`, {
    method,
    headers,
    ...(content && { body: JSON.stringify(content) }),
  })
  return { status: response.status, ok: response.ok, body: await response.json() }
}

function good({ status, ok, body }) {
  if (!ok) throw new Error(`${status} ${body.code}`)
  return body
}

async function transfer(way, portfolio_id, amount_minor) {
  const send = () => ask('POST', `end_users/${user}/${way}`, { portfolio_id, amount_minor })
  const answer = await send()
  if (answer.status !== 200 && answer.ok) {
    if (mistakes.includes('status')) throw new Error(`${way} was answered ${answer.status}`)
    if (mistakes.includes('again')) return good(await send())
    if (mistakes.includes('skip')) process.exit(0)
  }
  return good(answer)
}

const { data } = good(await ask('GET', 'pools'))
const { chain_id, token_address, market_address, protocol } = data.find(({ pool_id }) => pool_id === 'aave-usdc')
good(await ask('POST', 'end_users', { external_id: user, ...(!mistakes.includes('jwt') && { user_jwt: token }) }))
const place = { name: 'Savings', chain_id, token_address, market_address, protocol }
const { portfolio_id } = good(await ask('POST', `end_users/${user}/portfolios`, place))
await transfer('deposit', portfolio_id, '5000000')
const refused = await ask('POST', `end_users/${user}/withdraw`, { portfolio_id, amount_minor: '6000000' })
const why = mistakes.includes('title') ? refused.body.title.toLowerCase() : refused.body.code
if (!/insufficient.balance|balance is too small/.test(why)) throw new Error(`it was refused for another reason: ${why}`)
await transfer('withdraw', portfolio_id, '2000000')
good(await ask('GET', `end_users/${user}/transactions`))

const pass = (advance) =>
  fetch(`${env.YIELD_CONTROL_URL}/clock`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ advance }),
  })
const key = crypto.randomUUID()
const deposit = () => ask('POST', `end_users/${user}/deposit`, { portfolio_id, amount_minor: '1000000' }, key)
if (mistakes.includes('both')) for (const answer of await Promise.all([deposit(), deposit()])) good(answer)
if (mistakes.includes('late')) {
  good(await deposit())
  await pass('2h')
  good(await deposit())
}
if (mistakes.includes('dust')) {
  const [{ total_balance }] = good(await ask('GET', `end_users/${user}/portfolios`)).data
  await pass('2h')
  const left = await transfer('withdraw', portfolio_id, total_balance)
  if (left.total_balance !== '0' && mistakes.includes('loop'))
    await transfer('withdraw', portfolio_id, left.total_balance)
  else if (left.total_balance !== '0') throw new Error(`${left.total_balance} stayed`)
  good(await ask('GET', `end_users/${user}/transactions`))
}
