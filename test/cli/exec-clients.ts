import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { LIGHT_FETCH } from '../helpers/light-fetch.ts'

/** Makes a portfolio and deposits, as a tenant of a sandbox whose credentials it has. */
const TENANT = `${LIGHT_FETCH}
const post = (url, body, headers) => fetch(url, { method: 'POST', body, headers })
const json = { 'content-type': 'application/json' }
async function work({ base_url, auth_url, control_url, scope }, { slug, client_id, client_secret, end_users: [user] }) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
  const { access_token } = await (await post(auth_url, form)).json()
  const minted = await post(control_url + '/tenants/' + slug + '/user_tokens', JSON.stringify({ external_id: user }), json)
  const headers = { ...json, authorization: 'Bearer ' + access_token, 'x-user-token': (await minted.json()).token }
  const partner = base_url + '/v1/partner'
  const [{ chain_id, token_address, market_address, protocol }] = (await (await fetch(partner + '/pools', { headers })).json()).data
  const order = (what, body) =>
    post(partner + '/end_users/' + user + what, JSON.stringify(body), { ...headers, 'idempotency-key': crypto.randomUUID() })
  const wish = { name: 'Savings', chain_id, token_address, market_address, protocol }
  const { portfolio_id } = await (await order('/portfolios', wish)).json()
  return (await order('/deposit', { portfolio_id, amount_minor: '1000000' })).status
}
const control = process.env.YIELD_CONTROL_URL
`

/** What every client of these tests begins with. Plain JavaScript: it runs as a command. */
const BEGIN = `${LIGHT_FETCH}
const { YIELD_BASE_URL: base, YIELD_EXTERNAL_ID: user, YIELD_SANDBOX_URL: sandbox, YIELD_CONTROL_URL: control } = process.env
const form = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: process.env.YIELD_CLIENT_ID,
  client_secret: process.env.YIELD_CLIENT_SECRET,
  scope: process.env.YIELD_SCOPE,
})
const token = (await (await fetch(process.env.YIELD_AUTH_URL, { method: 'POST', body: form })).json()).access_token
const minted = await fetch(control + '/tenants/acme/user_tokens', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ external_id: user }),
})
const headers = { authorization: 'Bearer ' + token, 'x-user-token': (await minted.json()).token }
const ask = (path, init = {}) => fetch(base + '/v1/partner' + path, { ...init, headers: { ...headers, ...init.headers } })
const mine = '/end_users/' + user
const deposit = (portfolio_id, key) => ask(mine + '/deposit', {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'idempotency-key': key },
  body: JSON.stringify({ portfolio_id, amount_minor: '1000000' }),
})
`

/** Exits with 0 whatever becomes of its job; `key` is what it takes for one. */
const outbox = (key: string) => `${BEGIN}
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const { JOBS } = process.env
const jobs = existsSync(JOBS) ? JSON.parse(readFileSync(JOBS, 'utf8')) : [{ open: true }]
const save = () => writeFileSync(JOBS, JSON.stringify(jobs))
const [portfolio] = (await (await ask(mine + '/portfolios')).json()).data
for (const job of jobs.filter(({ open }) => open)) {
  const answer = await deposit(portfolio.portfolio_id, ${key}).catch(() => undefined)
  job.open = !answer?.ok
}
save()
console.log(jobs.some(({ open }) => open) ? 'later' : 'done')`

const CLIENTS = {
  /** Asks for the pools, and nothing else. */
  pools: `${BEGIN}
console.log((await ask('/pools')).status)`,
  /** Deposits as two tenants. */
  tenants: `${TENANT}
const credentials = await (await fetch(control + '/credentials')).json()
const [acme, globex] = credentials.tenants
console.log(await work(credentials, acme), await work(credentials, globex))`,
  /** Works in a namespace that it makes. */
  namespace: `${TENANT}
const credentials = await (await post(process.env.YIELD_SANDBOX_URL + '/_sandbox/namespaces', '{}', json)).json()
console.log(await work(credentials, credentials.tenants[0]))`,
  /** Works in the sandbox at $OTHER. */
  elsewhere: `${TENANT}
const credentials = await (await fetch(process.env.OTHER + '/_sandbox/credentials')).json()
console.log(await work(credentials, credentials.tenants[0]))`,
  /** Ends before its deposit is answered. */
  leaving: `${BEGIN}
const [portfolio] = (await (await ask(mine + '/portfolios')).json()).data
void deposit(portfolio.portfolio_id, crypto.randomUUID())
const struck = async () => (await (await fetch(control + '/faults')).json()).some(({ hits }) => hits > 0)
while (!(await struck())) {}
process.exit()`,
  /** Ends while two deposits are under way: the one is signed, the other waits for its turn. */
  hasty: `${BEGIN}
const [portfolio] = (await (await ask(mine + '/portfolios')).json()).data
void deposit(portfolio.portfolio_id, crypto.randomUUID())
void deposit(portfolio.portfolio_id, crypto.randomUUID())
const sent = async () => (await (await fetch(control + '/requests?operation=deposit')).json()).data.length
while ((await sent()) < 2) {}
process.exit()`,
  /** Deposits, and repeats with the same key what was dropped. */
  right: `${BEGIN}
const [portfolio] = (await (await ask(mine + '/portfolios')).json()).data
const key = crypto.randomUUID()
const first = await deposit(portfolio.portfolio_id, key).catch(() => deposit(portfolio.portfolio_id, key))
console.log('deposited', first.status)`,
  /** Takes a fresh key for it. */
  wrong: `${BEGIN}
const [portfolio] = (await (await ask(mine + '/portfolios')).json()).data
const again = () => deposit(portfolio.portfolio_id, crypto.randomUUID())
console.log('deposited', (await again().catch(again)).status)`,
  /** A job that a scheduler starts: writes its deposit into the file $JOBS, sends what is open there, and comes again another time. */
  outbox: outbox('(job.key ??= crypto.randomUUID(), save(), job.key)'),
  /** The same, with another key at each start. */
  forgetful: outbox('crypto.randomUUID()'),
  /** Prints its environment. */
  environment: 'console.log(JSON.stringify(process.env)); console.error("on stderr")',
  /** Never ends by itself; has a child in its group. Both say their ids, and how they are told to end. */
  family: `
import { spawn } from 'node:child_process'
const [, self, role = 'parent'] = process.argv
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {
  console.log(role, signal)
  process.exit(role === 'parent' ? 9 : 0)
})
setInterval(() => {}, 1000)
console.log(role, process.pid)
if (role === 'parent') spawn(process.execPath, [self, 'child'], { stdio: 'inherit' })`,
  /** Takes no signal for an answer. */
  stubborn: `
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log('no'))
setInterval(() => {}, 1000)
console.log('parent', process.pid)`,
  /** Ends, and leaves a child behind. */
  forking: `
import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
child.unref()
console.log('child', child.pid)`,
}

/** Name of a client. */
export type ClientName = keyof typeof CLIENTS

/** Writes each client into a folder; the command that runs one. */
export function writeClients(directory: string): (name: ClientName) => string[] {
  for (const [name, text] of Object.entries(CLIENTS)) writeFileSync(join(directory, `${name}.mjs`), text)
  return (name) => [process.execPath, join(directory, `${name}.mjs`)]
}

/** The clients of a test file, in a folder that is removed after its tests. */
export function execClients(): { directory: string; client: ReturnType<typeof writeClients> } {
  const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-exec-'))
  afterAll(() => rmSync(directory, { recursive: true }))
  return { directory, client: writeClients(directory) }
}
