import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectSandbox, type SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let started: SandboxHandle
let connected: SandboxHandle

beforeAll(async () => {
  sandbox = await testNamespace()
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  started = await sandbox.namespaces.create()
  connected = await connectSandbox({ url: sandbox.baseUrl, namespace: started.namespace })
  return () => started.stop()
})

const HANDLES: [string, () => SandboxHandle][] = [
  ['of a sandbox started here', () => started],
  ['of one connected to', () => connected],
]

describe.each(HANDLES)('requests.next of the handle %s', (_name, handle) => {
  test('gives a request that has ended already, and waits for one that has not', async () => {
    const { requests } = handle()
    const acme = new Partner(handle())
    const portfolio = await acme.open('carol')
    const { body } = await acme.deposit('carol', portfolio, '1000000')
    const ended = await requests.next({ operation: 'deposit' })
    expect(ended).toMatchObject({ end: 'answered', transfer: { tx_hash: body.tx_hash }, ordinal: 1 })
    const coming = requests.next({ operation: 'deposit' })
    await acme.deposit('carol', portfolio, '2000000')
    expect((await coming).transfer?.amount_minor).toBe('2000000')
  })

  test('gives each one once, in the order of their ends, also to calls at the same time and with other filters', async () => {
    const { requests, faults, clock } = handle()
    const acme = new Partner(handle())
    const [carols, daves] = [await acme.open('carol'), await acme.open('dave')]
    await faults.add({ kind: 'slow_confirmation', match: { external_id: 'carol' }, with: { delay: '1h' } })
    const held = acme.deposit('carol', carols, '1000000')
    await expect.poll(async () => (await requests.latest({ operation: 'deposit' }))?.external_id).toBe('carol')
    await acme.deposit('dave', daves, '2000000')
    await clock.advance('1h')
    await held
    const [one, other, token] = await Promise.all([
      requests.next({ operation: 'deposit' }),
      requests.next({ status: '2xx', operation: 'deposit' }),
      requests.next({ operation: 'token' }),
    ])
    expect(token.operation).toBe('token')
    expect([one.external_id, other.external_id].sort()).toEqual(['carol', 'dave'])
    const first = await requests.next({ operation: 'deposit', after: token })
    expect(first.external_id).toBe('dave')
    expect((await requests.next({ operation: 'deposit', after: first })).external_id).toBe('carol')
    await requests.next({ status: '2xx', operation: 'create_end_user', external_id: 'dave' })
    await expect(requests.next({ operation: 'deposit', timeout: 0 })).rejects.toMatchObject({ code: 'no_such_request' })
  })

  test('a wait in vain says what came instead', async () => {
    const { requests } = handle()
    await expect(requests.next({ timeout: 0 })).rejects.toThrow(/No request has come at all: does the client use/)
    const acme = new Partner(handle())
    await acme.get('end_users/alice/portfolios', { user: null })
    const waited = requests.next({ operation: 'deposit', status: 200, timeout: '20ms' })
    await expect(waited).rejects.toMatchObject({
      name: 'ControlError',
      code: 'no_such_request',
      message: expect.stringMatching(
        /^no further request \(operation deposit, status 200\) ended within 20 ms\.\nThe newest requests on record are:\n {2}list_portfolios of alice: 401 invalid_user_token \(req_\w+\)\n {2}token: 200 /,
      ),
    })
  })

  test('wrong words are refused', async () => {
    const { requests } = handle()
    await expect(requests.next({ operaton: 'deposit' } as object)).rejects.toThrow(/did you mean "operation"\?/)
    await expect(requests.next({ timeout: 'soon' })).rejects.toThrow(/timeout must be a duration such as 10s/)
    await expect(requests.next({ after: 'req_none' })).rejects.toThrow(/There is no request "req_none" on record/)
    await expect(requests.next({ end: 'open' } as object)).rejects.toMatchObject({ code: 'validation_error' })
  })

  test('waits on over a reset, and ends with its namespace', async () => {
    const { requests } = handle()
    const acme = new Partner(handle())
    await acme.get('pools')
    expect((await requests.next({ operation: 'list_pools' })).number).toBe(2)
    const coming = requests.next({ operation: 'list_pools', timeout: '60s' })
    await handle().reset()
    await acme.get('pools')
    expect((await coming).operation).toBe('list_pools')
    const never = requests.next({ operation: 'withdraw', timeout: '60s' })
    const refused = expect(never).rejects.toMatchObject({ code: expect.stringMatching(/not_found|starting/) })
    await started.stop()
    await refused
  })
})

test('a connected handle gives what has ended since it was connected', async () => {
  const acme = new Partner(started)
  await acme.get('pools')
  const later = await connectSandbox({ url: sandbox.baseUrl, namespace: started.namespace })
  const coming = later.requests.next()
  await acme.get('end_users/alice/portfolios')
  expect((await coming).operation).toBe('list_portfolios')
})
