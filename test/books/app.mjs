// An app in small: two deposits for one end user, one attempt each, and its books in a file. Right, but for what MISTAKE says. Needs Node.
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fetch } from '../helpers/light-fetch.mjs'

const { env } = process
const mistake = env.MISTAKE ?? ''
const user = env.YIELD_EXTERNAL_ID
const mine = `${env.YIELD_BASE_URL}/v1/partner/end_users/${user}`
const post = (url, body, headers) => fetch(url, { method: 'POST', body, headers })
const json = { 'content-type': 'application/json' }

const form = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: env.YIELD_CLIENT_ID,
  client_secret: env.YIELD_CLIENT_SECRET,
  scope: env.YIELD_SCOPE,
})
const { access_token } = await (await post(env.YIELD_AUTH_URL, form)).json()
const minted = await post(
  `${env.YIELD_CONTROL_URL}/tenants/acme/user_tokens`,
  JSON.stringify({ external_id: user }),
  json,
)
const headers = { ...json, authorization: `Bearer ${access_token}`, 'x-user-token': (await minted.json()).token }
const [{ portfolio_id }] = (await (await fetch(`${mine}/portfolios`, { headers })).json()).data

const rows = ['1000000', '2000000'].map((amount_minor) => ({
  ...{ external_id: user, portfolio_id, type: 'deposit', amount_minor, state: 'open' },
  idempotency_key: crypto.randomUUID(),
}))
const save = () => {
  const path = join(env.BOOKS, `${basename(env.YIELD_CONTROL_URL)}.json`)
  writeFileSync(path, JSON.stringify({ form: 1, transfers: rows.filter(({ state }) => state !== 'unknown') }))
}

for (const row of [...rows]) {
  if (mistake === 'done-too-early') row.state = 'done'
  save()
  const { amount_minor, idempotency_key } = row
  const body = JSON.stringify({ portfolio_id, amount_minor })
  const answer = await post(`${mine}/deposit`, body, { ...headers, 'idempotency-key': idempotency_key })
    .then(async (response) => ({ ok: response.ok, status: response.status, body: await response.json() }))
    .catch(() => undefined)
  if (answer?.ok) row.state = 'done'
  else if (answer?.status === 422) row.state = mistake === 'done-on-any-answer' ? 'done' : 'failed'
  else if (mistake === 'failed-on-broken-connection') row.state = 'failed'
  else if (mistake === 'refund') {
    row.state = 'done'
    rows.push({ ...row, type: 'withdraw', idempotency_key: crypto.randomUUID() })
  } else if (mistake === 'forgets') row.state = 'unknown'
  if (mistake === 'never-done') row.state = 'open'
  save()
}
console.log(rows.map(({ state }) => state).join(' '))
process.exit(Number(env.CODE ?? 0))
