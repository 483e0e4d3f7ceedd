import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { YieldClient } from '../../examples/clients/typescript/client.ts'
import { EXAMPLES, pythonWith } from '../verdict/clients/build-clients.ts'

/** A service that takes a deposit, cannot answer it, and then cannot show the list either. */
const service = createServer((request, response) => {
  request.resume()
  const isToken = request.url === '/token'
  response.writeHead(isToken ? 200 : request.method === 'POST' ? 503 : 500, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isToken ? { access_token: 'a.b.c', expires_in: 3600 } : { code: 'down', detail: 'down' }))
})
const KEY = '3f1c6a52-8f0e-4d5c-9a7b-1c2d3e4f5a6b'
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

let base: string
beforeAll(async () => {
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
})
afterAll(() => void service.close())

test('the TypeScript client names the key when the look-up after a lost answer fails', async () => {
  const client = new YieldClient({
    ...{ baseUrl: base, authUrl: `${base}/token`, clientId: 'a', clientSecret: 'b', scope: 'c', attempts: 1 },
    ...{ audience: 'c', issuer: 'https://acme.example', keyId: 'acme-1', privateKeyPem: PEM },
  })
  await expect(client.deposit('alice', 'jar_1', 1n, KEY)).rejects.toMatchObject({ name: 'OutcomeUnknown', key: KEY })
})

const python = pythonWith('requests', 'jwt')
const PROGRAM = `
import os, sys
from yield_client import OutcomeUnknown, YieldClient
base = os.environ["BASE"]
client = YieldClient(base_url=base, auth_url=base + "/token", client_id="a", client_secret="b", scope="c", attempts=1,
                     audience="c", issuer="https://acme.example", key_id="acme-1", private_key_pem=os.environ["PEM"])
try:
    client.deposit("alice", "jar_1", 1, os.environ["KEY"])
except OutcomeUnknown as unknown:
    print(unknown.key)
`

test.skipIf(!python)('the Python client does likewise', async () => {
  const env = {
    ...process.env,
    BASE: base,
    PEM,
    KEY,
    PYTHONPATH: join(EXAMPLES, 'python'),
    PYTHONDONTWRITEBYTECODE: '1',
  }
  expect((await promisify(execFile)(python!, ['-c', PROGRAM], { env })).stdout).toBe(`${KEY}\n`)
})
