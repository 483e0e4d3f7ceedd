import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIGHT_FETCH } from '../helpers/light-fetch.ts'

/**
 * A small client that deposits once. It repeats a request for as long as there is no answer, obtains other tokens when they are refused,
 * and pays again with a fresh key only after a revert. `FRESH_KEYS` is its mistake: every attempt has a key of its own.
 */
const CLIENT = `${LIGHT_FETCH}
const { YIELD_BASE_URL: base, YIELD_EXTERNAL_ID: user, YIELD_CONTROL_URL: control, FRESH_KEYS } = process.env
const form = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: process.env.YIELD_CLIENT_ID,
  client_secret: process.env.YIELD_CLIENT_SECRET,
  scope: process.env.YIELD_SCOPE,
})
const wait = (ms) => new Promise((done) => setTimeout(done, ms))
const json = { 'content-type': 'application/json' }

async function answerOf(make) {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await make()
      const body = await response.json()
      if (response.status < 500 && response.status !== 429) return { status: response.status, body }
      await wait(1000 * Number(response.headers.get('retry-after') ?? 0))
    } catch (error) {
      if (attempt === 20) throw error
    }
    if (attempt === 20) throw new Error('no answer')
    await wait(attempt < 3 ? 20 : 1000)
  }
}

let headers
async function sign() {
  const idp = await answerOf(() => fetch(process.env.YIELD_AUTH_URL, { method: 'POST', body: form, signal: AbortSignal.timeout(10_000) }))
  const body = JSON.stringify({ external_id: user })
  const minted = await answerOf(() => fetch(control + '/tenants/acme/user_tokens', { method: 'POST', headers: json, body }))
  headers = { authorization: 'Bearer ' + idp.body.access_token, 'x-user-token': minted.body.token }
}

async function ask(path, init = () => ({})) {
  for (let signed = 1; ; signed++) {
    const answer = await answerOf(() => {
      const { headers: own, ...rest } = init()
      return fetch(base + '/v1/partner/end_users/' + user + path, { ...rest, headers: { ...headers, ...own }, signal: AbortSignal.timeout(70_000) })
    })
    if (answer.status !== 401 || signed === 3) return answer
    await sign()
  }
}

await sign()
const { body: { data: [portfolio] } } = await ask('/portfolios')
for (let turn = 1; ; turn++) {
  const key = crypto.randomUUID()
  const { status } = await ask('/deposit', () => ({
    method: 'POST',
    headers: { ...json, 'idempotency-key': FRESH_KEYS ? crypto.randomUUID() : key },
    body: JSON.stringify({ portfolio_id: portfolio.portfolio_id, amount_minor: '1000000' }),
  }))
  console.log('deposited', status)
  if (status === 200) break
  if (status !== 422 || turn === 3) throw new Error('refused')
}
`

/** Writes the client into a folder; the command that runs it. */
export function writeClient(directory: string): { right: string[]; wrong: string[] } {
  const file = join(directory, 'client.mjs')
  writeFileSync(file, CLIENT)
  const right = [process.execPath, file]
  return { right, wrong: ['env', 'FRESH_KEYS=1', ...right] }
}
