// A worker with three orders. A fact of its store is a file, made once, so that two processes may share it. `MISTAKE` and `LOCK` say
// how it goes about it; without them it is right, since it stores the key of an order before it sends the order.
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fetch } from '../../helpers/light-fetch.mjs'

const { env } = process
const { MISTAKE = '', LOCK = '', YIELD_BASE_URL, YIELD_CLIENT_ID } = env
const store = `${env.STATE_DIR}/${YIELD_CLIENT_ID}${MISTAKE === 'all-anew' ? `-${process.pid}` : ''}`
const ORDERS = [
  { type: 'deposit', amount_minor: '1000000000' },
  { type: 'deposit', amount_minor: '250000000' },
  { type: 'withdraw', amount_minor: '500000' },
]
mkdirSync(store, { recursive: true })

/** Stores a fact unless it is there. Returns the one that is there. */
function once(name, value) {
  const draft = `${store}/${name}.${process.pid}`
  writeFileSync(draft, value)
  try {
    linkSync(draft, `${store}/${name}`)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return read(name)
}
const has = (name) => existsSync(`${store}/${name}`)
const read = (name) => readFileSync(`${store}/${name}`, 'utf8')

if (LOCK === 'refuse' && once('lock', String(process.pid)) !== String(process.pid)) {
  console.error('another instance runs')
  process.exit(3)
}
if (LOCK.startsWith('stay') && once('lock', String(process.pid)) !== String(process.pid)) {
  if (LOCK === 'stay-deaf') for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
  once('stays', String(process.pid))
  await sleep(2 ** 30)
}
if (LOCK === 'wait') while (once('lock', String(process.pid)) !== String(process.pid)) await sleep(20)
process.on('exit', () => {
  if (has('lock') && read('lock') === String(process.pid)) rmSync(`${store}/lock`)
})

const form = { grant_type: 'client_credentials', client_id: YIELD_CLIENT_ID, scope: env.YIELD_SCOPE }
const body = new URLSearchParams({ ...form, client_secret: env.YIELD_CLIENT_SECRET })
const issued = await (await fetch(env.YIELD_AUTH_URL, { method: 'POST', body })).json()
const minted = await fetch(`${env.YIELD_CONTROL_URL}/tenants/acme/user_tokens`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ external_id: 'alice' }),
})
const headers = { authorization: `Bearer ${issued.access_token}`, 'x-user-token': (await minted.json()).token }

async function ask(method, path, { content, key } = {}) {
  const sent = { ...headers, ...(key && { 'idempotency-key': key }) }
  const response = await fetch(`${YIELD_BASE_URL}/v1/partner/${path}`, {
    method,
    headers: content ? { ...sent, 'content-type': 'application/json' } : sent,
    body: content && JSON.stringify(content),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

async function portfolio() {
  const { data } = await ask('GET', 'pools?limit=100')
  const { chain_id, token_address, market_address, protocol } = data.find(({ pool_id }) => pool_id === 'aave-usdc')
  const content = { name: 'Savings', chain_id, token_address, market_address, protocol }
  const key = once('portfolio', crypto.randomUUID())
  return (await ask('POST', 'end_users/alice/portfolios', { content, key })).portfolio_id
}

/** The key of an order, and whether it is done: as they are now. */
const look = (_, i) => ({ done: has(`done-${i}`), key: has(`key-${i}`) ? read(`key-${i}`) : undefined })

const atStart = ORDERS.map(look)
if (atStart.some(({ done }) => !done)) {
  const portfolio_id = await portfolio()
  for (const [i, { type, amount_minor }] of ORDERS.entries()) {
    const { done, key: known } = MISTAKE === 'read-at-start' ? atStart[i] : look(undefined, i)
    if (done) continue
    if (LOCK === 'claim' && once(`claim-${i}`, String(process.pid)) !== String(process.pid)) {
      // Another process is at it: it looks until that one is done.
      for (; !has(`done-${i}`); await sleep(20)) await ask('GET', 'end_users/alice/transactions?limit=100')
      continue
    }
    const fresh = crypto.randomUUID()
    if (MISTAKE === 'read-at-start' && known === undefined) writeFileSync(`${store}/key-${i}`, fresh)
    const key =
      MISTAKE === 'key-per-start' ? fresh : MISTAKE === 'read-at-start' ? (known ?? fresh) : once(`key-${i}`, fresh)
    await ask('POST', `end_users/alice/${type}`, { content: { portfolio_id, amount_minor }, key })
    once(`done-${i}`, '')
  }
}
await ask('GET', 'end_users/alice/transactions?limit=100')
