import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { createLog } from '../../src/cli/log.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { goodHeaders, send, sendBytes } from '../http/raw-http.ts'

const CONTROL_TOKEN = 'control-token-that-nobody-may-read'

/** Drives every kind of request, good and bad, and returns every secret that was in play. */
async function drive(logger: FastifyBaseLogger): Promise<string[]> {
  const sandbox = await testSandbox({ logger, controlToken: CONTROL_TOKEN })
  const secrets = [CONTROL_TOKEN]
  try {
    const acme = new Partner(sandbox)
    for (const { client_secret, private_key_pem } of sandbox.tenants) {
      secrets.push(client_secret, ...(private_key_pem ?? '').split('\n').slice(1, 4))
    }
    const portfolio = await acme.open('carol')
    const key = randomUUID()
    await acme.deposit('carol', portfolio, '5000', { key })
    await acme.deposit('carol', portfolio, '6000', { key })
    await acme.withdraw('carol', portfolio, '9000')
    secrets.push(await acme.idpToken(), await acme.userToken('carol'))
    const jwt = await sandbox.userToken('dave')
    secrets.push(jwt)
    await acme.post('end_users', { external_id: 'dave', user_jwt: jwt })
    await acme.post('end_users', { external_id: 'erin', user_jwt: jwt })

    const good = await goodHeaders(acme, 'carol')
    const spoilt = (token: string) => `${token.slice(0, -6)}AAAAAA`
    secrets.push(...[good.authorization!, good['x-user-token']!].map((token) => token.slice(-60, -10)))
    const bad: Record<string, string>[] = [
      { authorization: spoilt(good.authorization!) },
      { 'x-user-token': spoilt(good['x-user-token']!) },
      { 'x-user-token': `${good['x-user-token']}, ${good['x-user-token']}` },
      { 'idempotency-key': 'x' },
      { 'content-type': 'text/plain' },
    ]
    for (const change of bad) {
      const path = '/v1/partner/end_users/carol/deposit'
      await send(sandbox.baseUrl, { method: 'POST', path, headers: { ...good, ...change }, body: '{' })
    }
    await send(sandbox.baseUrl, { path: '/v1/nothing', headers: good })
    await send(sandbox.baseUrl, { path: '/%zz', headers: good })
    await sendBytes(sandbox.baseUrl, `GET / HTTP/1.1\r\nAuthorization: ${good.authorization}\r\nbroken\r\n\r\n`)

    const { client_id, client_secret } = sandbox.tenants[0]!
    const form = (scope: string) =>
      new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope }).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const basic = `Basic ${btoa(`${client_id}:${client_secret}`)}`
    secrets.push(basic)
    for (const headers of [type, { ...type, authorization: basic }, { 'content-type': 'application/json' }]) {
      await send(sandbox.baseUrl, { method: 'POST', path: '/oauth2/token', headers, body: form('x') })
    }

    const control = { authorization: `Bearer ${CONTROL_TOKEN}`, 'content-type': 'application/json' }
    for (const [method, path, body] of [
      ['GET', 'credentials', undefined],
      ['POST', 'tenants/acme/user_tokens', '{"external_id":"carol"}'],
      ['POST', 'tenants/acme/idp_tokens', '{}'],
      ['POST', 'tenants/acme/idp_tokens', '{'],
      ['POST', 'reset', undefined],
    ] as const) {
      const request = { method, path: `/_sandbox/${path}`, headers: control, ...(body !== undefined && { body }) }
      const { text } = await send(sandbox.baseUrl, request)
      const token = /"token":"([^"]+)"/.exec(text)?.[1]
      if (token) secrets.push(token)
    }

    const [chain] = Object.values((await sandbox.credentials()).rpc_urls)
    expect(chain).toMatch(/^http/)
    await sandbox.faults.add({ kind: 'drop_connection', match: { operation: 'list_pools' } })
    await expect(acme.get('pools')).rejects.toThrow()
    await sandbox.faults.add({ kind: 'bad_signature', match: { operation: 'list_portfolios' } })
    await acme.get('end_users/alice/portfolios')
  } finally {
    await sandbox.stop()
  }
  return secrets.filter((secret) => secret.length > 8)
}

function expectNone(lines: string, secrets: readonly string[]): void {
  // It did log: else nothing is proved.
  expect(lines.split('\n').length).toBeGreaterThan(5)
  expect(secrets.length).toBeGreaterThan(10)
  for (const secret of secrets) {
    const at = lines.indexOf(secret)
    expect(at === -1 ? '' : lines.slice(Math.max(0, at - 200), at + 40)).toBe('')
  }
}

test('at trace level a library user’s own logger is given no token, secret or key', async () => {
  let lines = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines += chunk
      done()
    },
  })
  const secrets = await drive(pino({ level: 'trace' }, stream))
  expectNone(lines, secrets)
})

test('nor is the command line’s', async () => {
  let lines = ''
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    lines += String(chunk)
    return true
  })
  try {
    const secrets = await drive(createLog('trace', false))
    spy.mockRestore()
    expectNone(lines, secrets)
  } finally {
    spy.mockRestore()
  }
})
