// Deposits once. It repeats with the same Idempotency-Key, but only once: after a second failure it takes a fresh key, and may pay twice.
// With "count" it says how many deposits there are instead.
import { fetch } from '../../helpers/light-fetch.mjs'

const { YIELD_BASE_URL: base, YIELD_EXTERNAL_ID: user, YIELD_CONTROL_URL: control } = process.env

/** Acts until there is a good answer, four times at most. */
async function persist(act) {
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await act(attempt)
      const body = await answer.json()
      if (answer.ok || attempt === 3) return body
    } catch (error) {
      if (attempt === 3) throw error
    }
  }
}

const form = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: process.env.YIELD_CLIENT_ID,
  client_secret: process.env.YIELD_CLIENT_SECRET,
  scope: process.env.YIELD_SCOPE,
})
const { access_token } = await persist(() => fetch(process.env.YIELD_AUTH_URL, { method: 'POST', body: form }))
const minted = await fetch(`${control}/tenants/acme/user_tokens`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ external_id: user }),
})
const headers = { authorization: `Bearer ${access_token}`, 'x-user-token': (await minted.json()).token }
const mine = `${base}/v1/partner/end_users/${user}`
const [{ portfolio_id }] = (await persist(() => fetch(`${mine}/portfolios`, { headers }))).data

if (process.argv[2] === 'count') {
  const list = `${mine}/transactions?limit=100`
  const { data } = await persist(() => fetch(list, { headers }))
  console.log('deposits', data.filter(({ amount_changed }) => amount_changed === '3000000').length)
} else {
  const [first, fresh] = [crypto.randomUUID(), crypto.randomUUID()]
  const body = JSON.stringify({ portfolio_id, amount_minor: '3000000' })
  await persist((attempt) => {
    const key = attempt < 2 ? first : fresh
    const sent = { ...headers, 'content-type': 'application/json', 'idempotency-key': key }
    return fetch(`${mine}/deposit`, { method: 'POST', headers: sent, body })
  })
}
