// npm install --save-dev testcontainers, then: node --test examples/testcontainers/deposit.test.ts
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SandboxHandle } from 'yield-sandbox'
import { YieldClient } from '../clients/typescript/client.ts'
import { type SandboxContainer, startSandboxContainer } from './sandbox-container.ts'

let container: SandboxContainer
before(async () => {
  container = await startSandboxContainer()
})
after(() => container.stop())

test('a dropped answer moves money once', async () => {
  const mine = await container.sandbox.namespaces.create()
  await mine.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  const client = await clientOf(mine)
  await client.createEndUser('bob')
  const [pool] = await all(client.pools())
  assert(pool)
  const { portfolio_id } = await client.createPortfolio('bob', pool, 'Rainy day')
  const { tx_hash } = await client.deposit('bob', portfolio_id, 5_000_000n)
  const listed = await all(client.transactions('bob'))
  assert.deepEqual(
    listed.map((one) => one.tx_hash),
    [tx_hash],
  )
  await mine.stop()
})

/** A client of the first partner of a namespace; all addresses are those of the mapped port. */
async function clientOf(sandbox: SandboxHandle): Promise<YieldClient> {
  const { base_url, auth_url, scope, audience, tenants } = await sandbox.credentials()
  const [acme] = tenants
  assert(acme?.kid && acme.private_key_pem)
  return new YieldClient({
    baseUrl: base_url,
    authUrl: auth_url,
    clientId: acme.client_id,
    clientSecret: acme.client_secret,
    scope,
    audience,
    issuer: acme.issuer,
    keyId: acme.kid,
    privateKeyPem: acme.private_key_pem,
  })
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
