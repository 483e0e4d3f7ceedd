import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { UserKeys } from '../../src/auth/user-keys.ts'
import { UserTokenVerifier } from '../../src/auth/user-token-verifier.ts'
import type { Jwk } from '../../src/domain/records.ts'
import {
  AUDIENCE,
  type KeyPair,
  keyPair,
  MovableClock,
  problemOf,
  type RecordedLog,
  recordedLog,
  tenant,
  userToken,
} from './partner.ts'

const MINUTE = 60_000

let first: KeyPair
let second: KeyPair
let clock: MovableClock
let log: RecordedLog
let verifier: UserTokenVerifier
let server: Server
let acme: ReturnType<typeof tenant>
let hits: number
let published: Jwk[]
let answer: RequestListener

const publish: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: published }))
}

beforeAll(() => {
  first = keyPair()
  second = keyPair()
})

beforeEach(async () => {
  clock = new MovableClock()
  log = recordedLog()
  const keys = new UserKeys({ clock, logger: log, fetchTimeout: 2_000 })
  verifier = new UserTokenVerifier({ audience: AUDIENCE, leeway: 60, clock, keys })
  hits = 0
  published = [first.jwk('one')]
  answer = publish
  server = createServer((request, response) => {
    hits++
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  acme = tenant({ jwks_uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json` })
})

afterEach(async () => {
  server.closeAllConnections()
  if (server.listening) await new Promise((resolve) => server.close(resolve))
})

const token = (key: KeyPair, kid: string) => userToken(key, {}, { kid })
const verify = async (key: KeyPair, kid: string) => verifier.verify(await token(key, kid), acme)
const refusal = async (key: KeyPair, kid: string) => {
  const problem = await problemOf(verify(key, kid))
  expect(problem).toMatchObject({ code: 'invalid_user_token', status: 401 })
  return problem.details.detail
}

/** When a refusal says that the URI is asked again. */
const againAt = (detail: string) => Date.parse(/it is asked again from (\S+) on/.exec(detail)?.[1] ?? '')

describe('a jwks_uri that answers', () => {
  it('is fetched once, however many tokens come at the same time', async () => {
    const tokens = await Promise.all(Array.from({ length: 10 }, (_, n) => userToken(first, { n }, { kid: 'one' })))
    await Promise.all(tokens.map((each) => verifier.verify(each, acme)))
    await verify(first, 'one')
    expect(hits).toBe(1)
    expect(log.lines).toEqual([])
  })

  it('is fetched once more for a new kid, even right after the first time', async () => {
    await verify(first, 'one')
    published = [first.jwk('one'), second.jwk('two')]
    const tokens = await Promise.all(Array.from({ length: 10 }, (_, n) => userToken(second, { n }, { kid: 'two' })))
    await Promise.all(tokens.map((each) => verifier.verify(each, acme)))
    await verify(first, 'one')
    expect(hits).toBe(2)
  })

  it('is not fetched again and again for the same unknown kid, and is asked again later', async () => {
    await verify(first, 'one')
    clock.stop()
    for (let n = 0; n < 20; n++) expect(await refusal(second, 'two')).toContain('has its kid "two"')
    expect(hits).toBe(2)
    const detail = await refusal(second, 'two')
    expect(detail).toContain('127.0.0.1')
    expect(againAt(detail) - clock.wallNow()).toBe(30_000)
    published = [first.jwk('one'), second.jwk('two')]
    clock.ahead = MINUTE
    expect(await verify(second, 'two')).toEqual({ sub: 'alice' })
    expect(hits).toBe(3)
  })

  it('withstands a flood of unknown kids, and recovers', async () => {
    await verify(first, 'one')
    const flood = await Promise.all(Array.from({ length: 100 }, (_, n) => token(second, `forged-${n}`)))
    await Promise.all(flood.slice(0, 50).map((forged) => problemOf(verifier.verify(forged, acme))))
    expect(hits).toBe(2)
    for (const forged of flood) await problemOf(verifier.verify(forged, acme))
    expect(hits).toBeLessThanOrEqual(5)
    expect(await verify(first, 'one')).toEqual({ sub: 'alice' })
    published = [second.jwk('two')]
    clock.ahead = MINUTE / 4
    expect(await verify(second, 'two')).toEqual({ sub: 'alice' })
  })

  it('says that it was not asked, and when it will be, once it was asked too often', async () => {
    clock.stop()
    await verify(first, 'one')
    for (let n = 0; n < 4; n++) expect(await refusal(second, `forged-${n}`)).not.toContain('not asked')
    published = [second.jwk('two')]
    const detail = await refusal(second, 'two')
    expect(hits).toBe(5)
    expect(detail).toMatch(/no key read so far has its kid "two", and 127\.0\.0\.1:\d+ was not asked for a new one/)
    clock.ahead += againAt(detail) - clock.wallNow() - 1
    expect(againAt(await refusal(second, 'two'))).toBe(againAt(detail))
    clock.ahead += 1
    expect(await verify(second, 'two')).toEqual({ sub: 'alice' })
  })

  it('is fetched anew after ten minutes: a key taken back ends its tokens, one kept leaves them verified', async () => {
    published = [first.jwk('one'), second.jwk('two')]
    const [kept, withdrawn] = await Promise.all([token(first, 'one'), token(second, 'two')])
    await Promise.all([kept, withdrawn].map((each) => verifier.verify(each, acme)))
    published = [first.jwk('one')]
    clock.ahead = 9 * MINUTE
    await verifier.verify(withdrawn, acme)
    clock.ahead = 11 * MINUTE
    expect((await problemOf(verifier.verify(withdrawn, acme))).details.detail).toContain('has its kid "two"')
    expect(await verifier.verify(kept, acme)).toEqual({ sub: 'alice' })
    expect(hits).toBe(2)
  })

  it('may replace the key of a kid: what the old one signed is refused', async () => {
    const old = await token(first, 'one')
    await verifier.verify(old, acme)
    published = [second.jwk('one')]
    clock.ahead = 11 * MINUTE
    expect((await problemOf(verifier.verify(old, acme))).details.detail).toContain('its signature')
    expect(await verify(second, 'one')).toEqual({ sub: 'alice' })
  })

  it('serves several tenants with one fetch', async () => {
    await verify(first, 'one')
    const globex = { ...acme, tenant_id: 'globex', issuer: 'https://globex.example' }
    await verifier.verify(await userToken(first, { iss: globex.issuer }, { kid: 'one' }), globex)
    expect(hits).toBe(1)
  })
})

describe('a jwks_uri that fails', () => {
  const failures: [string, RequestListener, string][] = [
    ['with a server error', (_request, response) => response.writeHead(500).end('{"keys":[]}'), 'status 500'],
    ['with HTML', (_request, response) => response.end('<!doctype html><title>Hi</title>'), 'not JSON'],
    ['with a truncated document', (_request, response) => response.end('{"keys":[{"kty":"RS'), 'not JSON'],
    ['with other JSON', (_request, response) => response.end('[]'), 'no JSON Web Key Set'],
    ['with null', (_request, response) => response.end('null'), 'no JSON Web Key Set'],
    ['by a redirect', (_request, response) => response.writeHead(302, { location: '/other' }).end(), 'redirect'],
    ['by saying nothing', () => undefined, 'no answer in time'],
    [
      'by stopping half-way',
      (_request, response) => void response.writeHead(200).write('{"keys":['),
      'no answer in time',
    ],
    ['by hanging up', (request) => request.socket.destroy(), 'other side closed'],
    [
      'with a document beyond all measure',
      (_request, response) => response.end(' '.repeat(1_100_000)),
      '1048576 bytes',
    ],
  ]

  it.each(failures)('%s gives a refusal and a reason in the log', async (_name, listener, reason) => {
    answer = listener
    expect(await refusal(first, 'one')).toContain(reason)
    expect(log.lines).toMatchObject([{ fields: { reason: expect.stringContaining(reason) } }])
  })

  it('gives a refusal when nobody listens or the address is none', async () => {
    await new Promise((resolve) => server.close(resolve))
    expect(await refusal(first, 'one')).toContain('ECONNREFUSED')
    for (const jwks_uri of ['not a url', 'file:///etc/passwd', 'http://localhost:0/']) {
      await problemOf(verifier.verify(await token(first, 'one'), tenant({ jwks_uri })))
    }
    expect(log.lines).toHaveLength(4)
  })

  it.each([
    ['a password', (port: number) => `http://alice:s3cr3t@127.0.0.1:${port}/jwks.json`],
    ['a key in its query', (port: number) => `http://127.0.0.1:${port}/jwks.json?subscription=s3cr3t`],
    ['a key in its path', (port: number) => `http://127.0.0.1:${port}/s3cr3t/jwks.json`],
    ['no scheme that can be fetched', () => 'ftp://127.0.0.1/s3cr3t'],
    ['no host', () => 's3cr3t'],
  ])('with %s is told by its host only', async (_name, uri) => {
    answer = (_request, response) => response.writeHead(503).end()
    const jwks_uri = uri((server.address() as AddressInfo).port)
    const { details } = await problemOf(verifier.verify(await token(first, 'one'), tenant({ jwks_uri })))
    expect(details.detail).toContain('could not be read')
    const told = JSON.stringify([details, log.lines])
    expect(told).toContain(URL.canParse(jwks_uri) ? '127.0.0.1' : 'no host')
    expect(told).not.toMatch(/s3cr3t|alice|jwks\.json/)
  })

  it('is not asked for every token', async () => {
    answer = (_request, response) => response.writeHead(503).end()
    for (let n = 0; n < 5; n++) expect(againAt(await refusal(first, 'one'))).toBeNaN()
    for (let n = 0; n < 25; n++) expect(againAt(await refusal(first, 'one'))).toBeGreaterThan(clock.wallNow())
    expect(hits).toBe(5)
  })

  it('works as soon as it recovers', async () => {
    answer = (_request, response) => response.writeHead(503).end()
    await refusal(first, 'one')
    answer = publish
    expect(await verify(first, 'one')).toEqual({ sub: 'alice' })
  })

  it('leaves keys already known in use, without waiting for it', async () => {
    await verify(first, 'one')
    answer = () => undefined
    clock.ahead = 11 * MINUTE
    expect(await verify(first, 'one')).toEqual({ sub: 'alice' })
    expect(log.lines).toMatchObject([{ fields: { reason: 'no answer in time' } }])
    expect(await verify(first, 'one')).toEqual({ sub: 'alice' })
    // It is asked once more meanwhile: had anybody waited for that, it would have failed a second time.
    expect(log.lines).toHaveLength(1)
  })

  it('holds only keys that are of no use: the refusal says so', async () => {
    published = [{ ...first.jwk('one'), use: 'enc' }, null as unknown as Jwk, 'x' as unknown as Jwk]
    expect(await refusal(first, 'one')).toContain('no RSA signing key')
  })
})
