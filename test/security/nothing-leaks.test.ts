import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renderJson } from '../../src/certify/certificate-file.ts'
import { renderPage } from '../../src/certify/render/document-of.ts'
import { renderCertificateText } from '../../src/certify/render/render-text.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { findScenario } from '../../src/scenarios/find-scenario.ts'
import { REPORT_FORM_NAMES } from '../../src/verdict/report.ts'
import { certified } from '../certify/certified.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { LIGHT_FETCH } from '../helpers/light-fetch.ts'
import { Partner } from '../helpers/partner.ts'
import { send } from '../http/raw-http.ts'

const CONTROL_TOKEN = 'Control/token+that=nobody'
const CLIENT_SECRET = 'a b&secret/of+acme=7'
const IDP_KEY = new URL('../../fixtures/demo-keys/identity-provider.pem', import.meta.url)

let log = ''
let sandbox: SandboxHandle
/** By name: what a test that fails calls it. */
let secrets: [string, string][]
beforeAll(async () => {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk
      done()
    },
  })
  const options = { logger: pino({ level: 'trace' }, stream), controlToken: CONTROL_TOKEN }
  sandbox = await sandboxWith((fixture) => {
    fixture.tenants[0]!.client_secret = CLIENT_SECRET
  }, options)
  const acme = new Partner(sandbox)
  const lines = (pem: string) => pem.split('\n').slice(7, 9)
  const keys = [
    readFileSync(IDP_KEY, 'utf8'),
    ...sandbox.tenants.flatMap(({ private_key_pem }) => private_key_pem ?? []),
  ]
  secrets = [
    ['the control token', CONTROL_TOKEN],
    ...sandbox.tenants.map(({ slug, client_secret }): [string, string] => [`the secret of ${slug}`, client_secret]),
    ...keys.flatMap((pem, at) => lines(pem).map((line, i): [string, string] => [`line ${i} of key ${at}`, line])),
    ['an application token', (await acme.idpToken()).split('.')[2]!],
    ['a user token', (await acme.userToken('alice')).split('.')[2]!],
  ]
})
afterAll(() => sandbox.stop())

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends a secret to wherever somebody may put it by mistake, whole and in the encodings of that place. */
async function misplace(secret: string, good: Record<string, string>): Promise<void> {
  const { baseUrl } = sandbox
  const encoded = encodeURIComponent(secret)
  const deposit = '/v1/partner/end_users/alice/deposit'
  const get = (path: string, headers = {}) => send(baseUrl, { path, headers: { ...good, ...headers } })
  const post = (path: string, headers: Record<string, string>, body: string) =>
    send(baseUrl, { method: 'POST', path, headers: { ...good, ...headers }, body })
  await get(`/v1/partner/pools?key=${encoded}&limit=${encoded}&starting_after=${encoded}`)
  await get(`/v1/partner/${encoded}`)
  await get(`/v1/partner/end_users/${encoded}/portfolios`)
  await get(`/%5fsandbox/${encoded}`)
  for (const name of [
    'X-Signature',
    'Idempotency-Key',
    'User-Agent',
    'X-User-Token',
    'Authorization',
    'X-Request-Id',
  ]) {
    await get('/v1/partner/end_users/alice/portfolios', { [name]: secret })
  }
  await get('/v1/partner/pools', { Authorization: `Bearer ${secret}` })
  await get('/v1/partner/pools', { 'X-Sandbox-Fault': `error; code=${secret}` })
  await post(deposit, JSON_TYPE, JSON.stringify({ portfolio_id: secret, amount_minor: secret, note: secret }))
  await post(deposit, JSON_TYPE, `{"portfolio_id":"${secret}`)
  await post('/v1/partner/end_users', JSON_TYPE, JSON.stringify({ external_id: secret, user_jwt: secret }))
  await post('/oauth2/token', FORM_TYPE, JSON.stringify({ client_secret: secret }))
  await post('/oauth2/token', FORM_TYPE, `client_id=${encoded}&client_secret=x&grant_type=client_credentials`)
  await post('/oauth2/token', FORM_TYPE, `grant_type=${encoded}&scope=${encoded}&pwd=${encoded}&client_id=a`)
  await post(
    '/oauth2/token',
    { ...FORM_TYPE, Authorization: `Basic ${btoa(`a:${secret}`)}` },
    'grant_type=client_credentials',
  )
  await post(
    '/oauth2/token',
    { ...FORM_TYPE, Authorization: `Basic ${btoa(`${secret}:a`)}` },
    'grant_type=client_credentials',
  )
}

/** Everything that shows what was sent, by name. */
async function everythingShown(): Promise<[string, string][]> {
  const control = (path: string) =>
    fetch(`${sandbox.baseUrl}/_sandbox/${path}`, { headers: { authorization: `Bearer ${CONTROL_TOKEN}` } })
  const { requests } = sandbox
  const shown: [string, string][] = [
    ['the archive', JSON.stringify(await requests.har())],
    ['the audit', JSON.stringify(await sandbox.audit())],
    ['the log', log],
  ]
  for (const form of REPORT_FORM_NAMES)
    shown.push([`the report as ${form}`, await (await control(`report?format=${form}`)).text()])
  const pages: string[] = []
  for (let next: string | null = null; ; ) {
    const page = await requests.list({ limit: 100, ...(next !== null && { starting_after: next }) })
    pages.push(JSON.stringify(page))
    for (const { request_id } of page.data) pages.push((await requests.get(request_id)).explanation.join('\n'))
    next = page.next_cursor
    if (next === null) break
  }
  return [...shown, ['record and explanations', pages.join('\n')]]
}

/** As texts carry a secret: as it is, and as JSON, URLs, HTML and base64 write it. */
function written(secret: string): string[] {
  const html = secret.replaceAll('&', '&amp;').replaceAll('+', '&#43;')
  const base64 = Buffer.from(`a:${secret}`).toString('base64').slice(4, -4)
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), html, base64]
}

function expectNone(shown: readonly [string, string][]): void {
  const found = shown.flatMap(([place, text]) =>
    secrets.flatMap(([name, secret]) => {
      const at = written(secret)
        .map((one) => text.indexOf(one))
        .find((one) => one >= 0)
      return at === undefined ? [] : [`${name} in ${place}: ${text.slice(Math.max(0, at - 150), at + 60)}`]
    }),
  )
  expect(found.slice(0, 5)).toEqual([])
}

test('no secret that is configured or issued leaves the process, wherever a client puts it', async () => {
  const acme = new Partner(sandbox)
  const good = { authorization: `Bearer ${await acme.idpToken()}`, 'x-user-token': await acme.userToken('alice') }
  for (const [, secret] of secrets) await misplace(secret, good)
  const shown = await everythingShown()
  for (const [place, text] of shown) expect(text.length, place).toBeGreaterThan(100)
  expectNone(shown)
})

test("nor does another namespace's record hold one", async () => {
  const mine = await sandbox.namespaces.create()
  const authorization = `Bearer ${await new Partner(mine).idpToken()}`
  const theirs = sandbox.tenants.map(({ client_secret }) => client_secret)
  for (const secret of theirs) {
    await send(sandbox.baseUrl, { path: `/v1/partner/${encodeURIComponent(secret)}`, headers: { authorization } })
    await send(sandbox.baseUrl, {
      path: `/v1/partner/pools?limit=${encodeURIComponent(secret)}`,
      headers: { authorization },
    })
  }
  const record = JSON.stringify(await mine.requests.har())
  expect(record.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(2 * theirs.length)
  for (const secret of theirs.flatMap(written)) expect(record).not.toContain(secret)
})

/** Sends what the environment tells it to places where it has no business. */
const CARELESS = `${LIGHT_FETCH}
import { writeFileSync } from 'node:fs'
const { YIELD_BASE_URL: base, YIELD_AUTH_URL: auth, YIELD_CLIENT_ID: id, YIELD_CLIENT_SECRET: secret, YIELD_SCOPE: scope, YIELD_PRIVATE_KEY_PEM: pem } = process.env
const line = pem.split('\\n')[3]
const ask = (body) => fetch(auth, { method: 'POST', body: new URLSearchParams(body) })
await ask({ client_id: secret, client_secret: id, grant_type: 'client_credentials' })
const { access_token } = await (await ask({ client_id: id, client_secret: secret, grant_type: 'client_credentials', scope })).json()
const headers = { authorization: 'Bearer ' + access_token, 'x-signature': secret, 'user-agent': line }
for (const url of ['/v1/partner/pools?sig=' + secret + '&access_token=' + access_token, '/v1/' + secret]) {
  try {
    await (await fetch(base + url, { headers })).text()
  } catch {}
}
writeFileSync(process.argv[2], secret + '\\n' + line + '\\n' + access_token.split('.')[2])
`

test('nor does a certificate hold one', async () => {
  const directory = temporaryDirectory()
  const file = join(directory, 'careless.mjs')
  writeFileSync(file, CARELESS)
  const told = join(directory, 'told')
  const scenarios = [await findScenario('dropped-deposit')]
  const wish = { operations: ['list_pools' as const], kinds: ['unknown_fields'], scenarios }
  const certificate = await certified([process.execPath, file, told], wish)
  secrets = readFileSync(told, 'utf8')
    .split('\n')
    .map((secret, at) => [`what the command knows, line ${at}`, secret])
  expect(secrets).toHaveLength(3)
  const shown: [string, string][] = [
    ['the file', renderJson(certificate)],
    ['the page', await renderPage(certificate)],
    ['the text', renderCertificateText(certificate)],
  ]
  expect(shown[0]![1].length).toBeGreaterThan(1_000)
  expectNone(shown)
})
