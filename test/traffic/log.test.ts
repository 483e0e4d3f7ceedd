import { expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { ExchangeLog, type LogBounds } from '../../src/traffic/exchange-log.ts'
import type { Arrival } from '../../src/traffic/live-exchange.ts'
import { Redactor } from '../../src/traffic/redact.ts'
import { processorTime } from '../helpers/processor-time.ts'

let ids = 0
function logOf(bounds: Partial<LogBounds> = {}, secrets: string[] = []) {
  const around = { clock: new SandboxClock(), settings: { name: 'Service' }, redactor: new Redactor(secrets) }
  const log = new ExchangeLog({ ...around, maxExchanges: 10_000, maxBytes: 2 ** 26, tenantOf: () => 'acme', ...bounds })
  const open = (arrival: Partial<Arrival> = {}) =>
    log.open({
      request_id: `req_${String(ids++).padStart(26, '0')}`,
      method: 'GET',
      url: '/v1/partner/pools',
      headers: [],
      connection: 1,
      operation: 'list_pools',
      ...arrival,
    })
  const answered = (arrival?: Partial<Arrival>, body = '{}') => {
    const live = open(arrival)
    log.takeAnswer(live, 200, null, body)
    log.end(live, 'answered')
    return live
  }
  return { log, open, answered }
}

test('the newest are kept, in their order, each under its own id; ordinals count those forgotten', () => {
  const { log, answered } = logOf({ maxExchanges: 1_500 })
  const first = ids
  for (let i = 0; i < 5_000; i++) answered()
  const all = log.all()
  expect(all).toHaveLength(1_500)
  expect(log.forgotten).toEqual({ room: 3_500, deleted: 0, reset: 0 })
  expect(all.map(({ number }) => number)).toEqual(Array.from({ length: 1_500 }, (_, i) => 3_501 + i))
  expect(all.map(({ ordinal }) => ordinal)).toEqual(all.map(({ number }) => number))
  expect(all.map(({ request_id }) => Number(request_id.slice(4)))).toEqual(all.map(({ number }) => first + number - 1))
  expect(log.get(all[7]!.request_id)).toEqual(all[7])
  expect([...log.newestFirst()].map(({ number }) => number)).toEqual(all.map(({ number }) => number).reverse())
  expect([...log.newestFirst(4_000)][0]).toMatchObject({ number: 3_999 })
})

test('what is open is never taken for another exchange, however many come after it', () => {
  const { log, open, answered } = logOf({ maxExchanges: 1_000 })
  const held = open({ url: '/v1/partner/held' })
  for (let i = 0; i < 3_000; i++) answered()
  log.takeAnswer(held, 503, {}, 'late')
  log.end(held, 'abandoned')
  expect(log.all().every(({ end, response }) => end === 'answered' && response?.body === '{}')).toBe(true)
})

test('each exchange is counted once, by its first end, and stays counted when it is forgotten', () => {
  const { log, open, answered } = logOf({ maxExchanges: 10 })
  const taken = answered()
  log.endAgain(taken, 'abandoned')
  log.end(open({ operation: null }), 'dropped')
  const counts = (['2xx', 'none'] as const).map((outcome) => log.counts.count(outcome))
  expect([counts, log.counts.count('none', 'unknown')]).toEqual([[1, 1], 1])
  for (let i = 0; i < 100; i++) answered()
  log.clear()
  log.beginAnew()
  expect([log.size, log.counts.total]).toEqual([0, 102])
})

test('bytes are bounded: giant bodies make room for each other', () => {
  const { log, answered } = logOf({ maxBytes: 1_000_000 })
  for (let i = 0; i < 100; i++) answered({}, 'x'.repeat(60_000))
  expect(log.size).toBe(16)
  expect(log.forgotten.room).toBe(84)
})

test('bytes are bounded where nothing but heads come', () => {
  const { log, open } = logOf({ maxBytes: 100_000 })
  for (let i = 0; i < 100; i++) open({ url: `/${i}${'x'.repeat(10_000)}` })
  expect(log.size).toBeLessThan(10)
  expect(log.forgotten.room).toBe(100 - log.size)
})

test('a body over 64 KiB is cut and says so, headers beyond a hundred are left out', () => {
  const { log, open } = logOf()
  const live = open({ headers: Array.from({ length: 5_000 }, () => 'a') })
  log.takeBody(live, `"name":"${'x'.repeat(100_000)}`, 100_000)
  log.takeAnswer(live, 200, null, 'é'.repeat(70_000))
  const [{ request, response }] = log.all() as [ReturnType<ExchangeLog['all']>[0]]
  expect(request).toMatchObject({ body_bytes: 100_000, body_cut: true })
  expect(request.body!.length).toBeLessThan(65_537)
  expect(response).toMatchObject({ body_bytes: 140_000, body_cut: true })
  expect(request.headers).toHaveLength(100)
})

test('a reset keeps what is open, counts anew, and cuts it off', () => {
  const { log, open, answered } = logOf()
  answered()
  const held = open()
  const request_id = log.idOf(held)
  log.beginAnew()
  answered()
  expect(log.all().map(({ number, end }) => [number, end])).toEqual([
    [1, 'open'],
    [2, 'answered'],
  ])
  log.end(held, 'answered')
  expect(log.get(request_id)).toMatchObject({ end: 'cut_off', number: 1 })
  expect(log.nextConnection()).toBe(1)
})

test('0 records nothing', () => {
  expect(logOf({ maxExchanges: 0 }).log.on).toBe(false)
  expect(logOf({ maxBytes: 0 }).log.on).toBe(false)
})

const SECRET = 'acme/demo+secret=1'
const b64 = (text: string) => Buffer.from(text).toString('base64url')
const SIGNATURE = 'c2lnbmF0dXJlLW9mLWEtdG9rZW4'
const JWS = `${b64('{"alg":"RS256"}')}.${b64('{"sub":"dan"}')}.${SIGNATURE}`
const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END PRIVATE KEY-----'
const basic = Buffer.from(`client:${SECRET}`).toString('base64')
const secrets = [SECRET, encodeURIComponent(SECRET), basic, SIGNATURE, 'MIIEvQIBADANBgkqhkiG9w0', 'unknown-secret-1']

test.each<[string, Partial<Arrival>, (string | undefined)?, string?]>([
  ['Authorization: Bearer', { headers: ['Authorization', `Bearer ${JWS}`] }],
  ['Authorization: bearer with spaces', { headers: ['authorization', `  bearer   ${JWS} `] }],
  ['Authorization: Basic', { headers: ['Authorization', `Basic ${basic}`] }],
  ['Authorization of another scheme', { headers: ['Authorization', 'Digest unknown-secret-1'] }],
  ['X-User-Token', { headers: ['X-User-Token', JWS] }],
  ['the control token', { headers: ['X-Sandbox-Control-Token', 'unknown-secret-1'] }],
  ['a cookie', { headers: ['Cookie', 'sid=unknown-secret-1'] }],
  ['a header by its name', { headers: ['X-Api-Key', 'unknown-secret-1', 'X-Client-Secret', 'unknown-secret-1'] }],
  ['a token in any header', { headers: ['X-Other', `see ${JWS}!`] }],
  ['a token in the URL', { url: `/v1/partner/pools?jwt=${JWS}&client_secret=unknown-secret-1` }],
  ['a token in the path', { url: `/v1/partner/${JWS}` }],
  ['a token with encoded dots', { url: `/v1/${JWS.replaceAll('.', '%2E')}?a=${JWS.replaceAll('.', '%2e')}` }],
  ['a secret in the path', { url: `/v1/partner/${encodeURIComponent(SECRET)}` }],
  ['a form', { operation: 'token' }, `client_id=a&client_secret=unknown-secret-1&client_assertion=${JWS}`],
  ['a form with encoded names', { operation: 'token' }, 'client%5Fsecret=unknown-secret-1'],
  ['a known secret in a form', { operation: 'token' }, `scope=${encodeURIComponent(SECRET)}`],
  ['JSON', {}, JSON.stringify({ a: SECRET, client_secret: 'unknown-secret-1', key: PEM, user_jwt: JWS })],
  ['broken JSON', {}, `{"client_secret":"unknown-secret-1`],
  ['JSON with escapes', {}, '{"client\\u005fsecret":"unknown-secret-1"}'],
  ['base64 of Basic in a body', {}, `x ${basic} y`],
  ['half a key', {}, PEM.slice(0, -10)],
  ['an answer', {}, undefined, JSON.stringify({ access_token: JWS, refresh_token: 'unknown-secret-1', note: SECRET })],
])('no secret is shown: %s', (_, arrival, body, answer) => {
  const { log, open } = logOf({}, [SECRET, `client:${SECRET}`])
  const live = open(arrival)
  if (body !== undefined) log.takeBody(live, body, body.length)
  log.takeAnswer(live, 200, { 'set-cookie': 'unknown-secret-1' }, answer ?? '{}')
  const shown = JSON.stringify(log.all())
  for (const secret of secrets) expect(shown).not.toContain(secret)
  expect(shown).not.toContain(JSON.stringify(SECRET).slice(1, -1))
})

test('hostile texts are shown in no time', () => {
  const { log, open } = logOf()
  for (const piece of ['a', 'a.', '-----BEGIN PRIVATE KEY-----', '"a":"', '\\', '%', '&', '"\\u0000":"']) {
    const live = open({ url: `/${piece.repeat(1_000)}`, headers: ['authorization', `Bearer ${piece.repeat(4_000)}`] })
    log.takeBody(live, piece.repeat(60_000), 60_000)
  }
  expect(processorTime(() => expect(log.all()).toHaveLength(8))).toBeLessThan(5_000)
})
