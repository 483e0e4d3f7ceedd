import { createPublicKey } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { forked } from '../chain/forked-fixture.ts'
import { startUpstream } from '../chain/upstream-chain.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

/** Opens a portfolio for carol and pays something into it. */
async function deposited(sandbox: SandboxHandle): Promise<void> {
  const acme = new Partner(sandbox)
  expect((await acme.deposit('carol', await acme.open('carol'), '5000000')).status).toBe(200)
}

const principalOf = async (sandbox: SandboxHandle) =>
  (await new Partner(sandbox).get('end_users/carol/portfolios')).body.data.map(
    ({ deposited: principal }: Record<string, string>) => principal,
  )

/** Of a sandbox with the usual fixtures, on no fork. */
let demo: SandboxHandle
beforeAll(async () => {
  demo = await testNamespace()
})
afterAll(() => demo.stop())

test('a state of a fork is loaded where the fork is known, and refused elsewhere', async () => {
  const upstream = await startUpstream('8453')
  onTestFinished(() => upstream.stop())
  await using fork = await sandboxWith(forked(upstream))
  await deposited(fork)
  const snapshot = await fork.snapshot()
  expect(snapshot).not.toContain(upstream.url)
  await using again = await fork.namespaces.create({ snapshot })
  expect(await principalOf(again)).toEqual(['5000000'])
  expect(await new Partner(again).deposit('carol', await new Partner(again).open('dave'), '1')).toMatchObject({
    status: 404,
  })
  const before = await demo.namespaces.list()
  await expect(demo.namespaces.create({ snapshot })).rejects.toThrow(
    /its chain 8453 is a fork, and this sandbox does not know of what/,
  )
  expect((await demo.namespaces.list()).map(({ name }) => name)).toEqual(before.map(({ name }) => name))
})

test('a tenant with a jwks_uri has it again where the fixture file names one, and its money everywhere', async () => {
  let keys: object[] = []
  const server = createServer((_, response) => response.end(JSON.stringify({ keys })))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`
  const { private_key_pem, kid } = demo.tenants[0]!
  keys = [{ ...createPublicKey(private_key_pem!).export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }]
  const userJwt = await demo.userToken('carol')
  const headers = { 'x-user-token': userJwt }

  await using remote = await sandboxWith((fixture) => {
    fixture.tenants[0]!.key = { jwks_uri: uri }
  })
  const acme = new Partner(remote)
  await acme.post('end_users', { external_id: 'carol' }, { user: null, headers })
  const { body: made } = await acme.post('end_users/carol/portfolios', await acme.portfolioBody('aave-usdc'), {
    user: null,
    headers,
  })
  const order = { portfolio_id: made.portfolio_id, amount_minor: '5000000' }
  expect((await acme.post('end_users/carol/deposit', order, { user: null, headers })).status).toBe(200)
  const snapshot = await remote.snapshot()
  expect(snapshot).not.toContain(uri)

  const listed = async (one: SandboxHandle) =>
    (await new Partner(one).get('end_users/carol/portfolios', { user: null, headers })).body
  await using again = await remote.namespaces.create({ snapshot })
  expect((await listed(again)).data).toMatchObject([{ deposited: '5000000' }])
  // Here the same public key stands in the file: the snapshot brings no keys, so the tenant has those of the file.
  await using elsewhere = await demo.namespaces.create({ snapshot })
  expect(await principalOf(elsewhere)).toEqual(['5000000'])
})
