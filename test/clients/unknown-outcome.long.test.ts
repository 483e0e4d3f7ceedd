import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { YieldClient } from '../../examples/clients/typescript/client.ts'
import { EXAMPLES } from '../verdict/clients/build-clients.ts'
import { pythonWith } from '../verdict/clients/installed.ts'

/** What a service does that says nothing of a deposit; the clients in other languages are tested by `languages.long.test.ts`. */
const CASES = [
  { title: 'the look-up after a lost answer fails', base: 'no-list', attempts: 1 },
  { title: 'a retry after a lost answer is refused for its token', base: 'refused', attempts: 2 },
]

let dropped = false
/** Takes a deposit without an answer. Then `/no-list` cannot show the list, and `/refused` refuses every token. */
const service = createServer((request, response) => {
  request.resume()
  const [, base, path] = request.url?.split('/') ?? []
  const isToken = path === 'token'
  if (request.method === 'POST' && !isToken && !dropped) {
    dropped = true
    request.socket.destroy()
    return
  }
  response.writeHead(isToken ? 200 : base === 'refused' ? 401 : 500, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify(
      isToken ? { access_token: 'a.b.c', expires_in: 3600 } : { code: 'invalid_user_token', detail: 'no' },
    ),
  )
})
const KEY = '3f1c6a52-8f0e-4d5c-9a7b-1c2d3e4f5a6b'
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

let origin: string
beforeAll(async () => {
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
})
afterAll(() => void service.close())

const python = pythonWith('requests', 'jwt')
const PYTHON = `
import os
from yield_client import OutcomeUnknown, YieldClient
names = ("base_url", "auth_url", "client_id", "client_secret", "scope", "audience", "issuer", "key_id", "private_key_pem")
client = YieldClient(**{name: os.environ["YIELD_" + name.upper()] for name in names}, attempts=int(os.environ["ATTEMPTS"]))
try:
    client.deposit("alice", "jar_1", 1, os.environ["KEY"])
except OutcomeUnknown as unknown:
    print(unknown.key)
`
const SHELL = `source "$0/yield-client.sh"; LOOKS=1; transfer deposit alice jar_1 1 "$KEY" || { [[ $? == 2 ]] && echo "$KEY"; }`

const settingsAt = (base: string) => ({
  ...{
    baseUrl: `${origin}/${base}`,
    authUrl: `${origin}/${base}/token`,
    clientId: 'a',
    clientSecret: 'b',
    scope: 'c',
  },
  ...{ audience: 'c', issuer: 'https://acme.example', keyId: 'acme-1', privateKeyPem: PEM },
})

describe.each(CASES)('when $title', ({ base, attempts }) => {
  /** Standard output of a program that is given the settings as `yield-sandbox exec` gives them. */
  const printed = async (file: string, ...args: string[]): Promise<string> => {
    const named = Object.entries(settingsAt(base)).map(([name, value]) => [
      `YIELD_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`,
      value,
    ])
    const env = {
      ...process.env,
      ...Object.fromEntries(named),
      ...{
        KEY,
        ATTEMPTS: String(attempts),
        PYTHONPATH: join(EXAMPLES, 'python'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
    }
    return (await promisify(execFile)(file, args, { env })).stdout
  }

  test('the TypeScript client says that the outcome is unknown, and names the key', async () => {
    dropped = false
    const client = new YieldClient({ ...settingsAt(base), attempts })
    await expect(client.deposit('alice', 'jar_1', 1n, KEY)).rejects.toMatchObject({ name: 'OutcomeUnknown', key: KEY })
  })

  test.skipIf(!python)('the Python client does likewise', async () => {
    dropped = false
    expect(await printed(python!, '-c', PYTHON)).toBe(`${KEY}\n`)
  })

  test('the shell client does likewise', async () => {
    dropped = false
    expect(await printed('bash', '-c', SHELL, join(EXAMPLES, 'shell'))).toBe(`${KEY}\n`)
  })
})

test('a refusal of the first attempt is itself, since nothing can have happened', async () => {
  dropped = true
  const client = new YieldClient({ ...settingsAt('refused'), attempts: 2 })
  await expect(client.deposit('alice', 'jar_1', 1n, KEY)).rejects.toMatchObject({ name: 'ApiError', status: 401 })
})
