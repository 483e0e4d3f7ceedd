import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Problem } from '../../src/domain/errors.ts'
import { outcome } from '../helpers/outcome.ts'
import { goodHeaders } from '../http/raw-http.ts'
import { atSomeMoment } from './harness/client-load.ts'
import { anvilPid, Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

let open: OpenSandbox
beforeAll(async () => {
  open = await openSandbox()
})
beforeEach(async () => {
  expect((await control('POST', 'reset')).status).toBe(200)
})
afterAll(() => open.stop())

const control = async (method: string, path: string, body?: unknown) => {
  const headers = { 'content-type': 'application/json' }
  const url = `${open.sandbox.baseUrl}/_sandbox/${path}`
  const response = await fetch(url, { method, ...(body !== undefined && { body: JSON.stringify(body), headers }) })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** A reset ends an Anvil that does not answer for a second. */
function letGoOn(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' })
  }
}

/** Something done while a reset waits for the chain, which answers again when it is done. */
async function during(work: () => Promise<void>): Promise<void> {
  const pid = anvilPid(open)
  process.kill(pid, 'SIGSTOP')
  const resetting = control('POST', 'reset')
  try {
    await expect.poll(() => open.sandbox.namespace.readiness().reason).toBe('The sandbox is being reset.')
    await work()
  } finally {
    letGoOn(pid)
  }
  expect((await resetting).status).toBe(200)
}

async function expectFresh(): Promise<void> {
  expect((await control('GET', 'faults')).body).toEqual([])
  expect((await control('GET', 'clock')).body).toMatchObject({ frozen: false, offset_seconds: 0 })
  expect((await control('GET', 'ready')).body).toEqual({ ready: true })
  const ledger = new Ledger(open)
  await ledger.expectSound()
  expect((await ledger.users()).map(({ external_id }) => external_id)).toEqual(['alice'])
}

/** A deposit of carol's whose body has only begun to come; `end` sends the rest, and says with which status it is answered. */
async function slowDeposit(jar: string): Promise<{ key: string; end: () => Promise<number | undefined> }> {
  const body = JSON.stringify({ portfolio_id: jar, amount_minor: '1000' })
  const key = randomUUID()
  const length = { 'content-length': Buffer.byteLength(body) }
  const headers = { ...(await goodHeaders(open.acme, 'carol')), 'idempotency-key': key, ...length }
  const url = `${open.sandbox.baseUrl}/v1/partner/end_users/carol/deposit`
  const outgoing = request(url, { method: 'POST', headers, agent: false })
  const answered = new Promise<number | undefined>((resolve, reject) => {
    outgoing.on('response', (incoming) => resolve(incoming.resume().statusCode))
    outgoing.on('error', reject)
  })
  await new Promise((resolve) => outgoing.write(body.slice(0, 10), resolve))
  await control('GET', 'health')
  const end = () => {
    outgoing.end(body.slice(10))
    return answered
  }
  return { key, end }
}

describe('while a reset runs', () => {
  test('every request is told to come back, and control goes on', async () => {
    const jar = await open.acme.open('carol')
    await during(async () => {
      const asked = [
        open.acme.get('pools'),
        open.acme.get('end_users/carol/transactions'),
        open.acme.post('end_users', { external_id: 'dave' }),
        open.acme.deposit('carol', jar, '1000'),
      ]
      for (const answer of await Promise.all(asked)) {
        expect(outcome(answer)).toBe('503 sandbox_starting')
        expect(answer.headers.get('retry-after')).toBe('1')
      }
      expect((await control('GET', 'health')).status).toBe(200)
      expect(await control('GET', 'ready')).toMatchObject({ status: 503, body: { ready: false } })
    })
    await expectFresh()
    expect((await open.acme.deposit('carol', await open.acme.open('carol'), '1000')).body.deposited).toBe('1000')
  })

  test('a deposit whose body comes only now is told so too', async () => {
    const { key, end } = await slowDeposit(await open.acme.open('carol'))
    await during(async () => {
      expect(await end()).toBe(503)
    })
    await expectFresh()
    const repeated = await open.acme.deposit('carol', await open.acme.open('carol'), '1000', { key })
    expect(repeated.headers.get('idempotency-key-replay')).toBe('false')
    expect(outcome(repeated)).toBe('200')
  })

  test('a deposit whose body comes only after it, too: it was asked of what is no more', async () => {
    const { end } = await slowDeposit(await open.acme.open('carol'))
    expect((await control('POST', 'reset')).status).toBe(200)
    // A portfolio of the same id and a user of the same name are there again.
    await open.acme.open('carol')
    expect(await end()).toBe(503)
    expect((await open.acme.get('end_users/carol/transactions')).body.data).toEqual([])
  })

  test('a request that a fault has held at its beginning is told so before it is looked at', async () => {
    await control('POST', 'faults', {
      kind: 'latency',
      phase: 'on_request',
      match: { operation: 'list_pools' },
      with: { delay: '8d' },
    })
    const held = open.acme.get('pools', { headers: { authorization: null } })
    await expect.poll(async () => ((await control('GET', 'faults')).body as { hits: number }[])[0]?.hits).toBe(1)
    expect((await control('POST', 'reset')).status).toBe(200)
    expect(outcome(await held)).toBe('503 sandbox_starting')
  })

  test('another reset undoes what was done since the first one began', async () => {
    let second: ReturnType<typeof control> | undefined
    await during(async () => {
      expect((await control('POST', 'faults', { kind: 'error', times: 'always' })).status).toBe(201)
      expect((await control('POST', 'clock', { advance: '8d', freeze: true })).status).toBe(200)
      second = control('POST', 'reset')
      await control('GET', 'health')
    })
    expect((await second!).status).toBe(200)
    await expectFresh()
    expect(outcome(await open.acme.get('pools'))).toBe('200')
  })

  test('the rest of a body that trickles is sent at once', async () => {
    const jar = await open.acme.open('carol')
    open.sandbox.namespace.services.service.clock.freeze()
    const header = { 'x-sandbox-fault': 'latency; phase=during_response; bytes_per_second=1' }
    const deposit = open.acme.deposit('carol', jar, '1000', { headers: header }).then(outcome, () => 'dropped')
    await expect.poll(async () => (await open.acme.get('end_users/carol/transactions')).body.data).toHaveLength(1)
    expect((await control('POST', 'reset')).status).toBe(200)
    expect(await deposit).toBe('200')
    await expectFresh()
  })
})

test('a reset that fails says why, and does not say that it still runs', async () => {
  // Whatever happens to Anvil is mended by now: a reset has to be made to fail.
  const reset = vi.spyOn(open.sandbox.namespace.services.chains.started!, 'reset')
  reset.mockRejectedValue(new Problem('chain_unavailable', { detail: 'No.', headers: { 'retry-after': '1' } }))
  const failed = await control('POST', 'reset')
  expect(failed.status).toBe(503)
  expect(failed.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(open.sandbox.namespace.readiness()).toMatchObject({
    ready: false,
    reason: expect.stringMatching(/reset failed: .*/),
  })
  expect(outcome(await open.acme.get('pools'))).toBe('503 sandbox_starting')
  expect((await control('POST', 'reset')).status).toBe(503)
  reset.mockRestore()
  expect((await control('POST', 'reset')).status).toBe(200)
  expect(open.sandbox.namespace.readiness()).toEqual({ ready: true })
})

test('a reset while Anvil is being restarted waits for it', async () => {
  process.kill(anvilPid(open), 'SIGKILL')
  expect((await control('POST', 'reset')).status).toBe(200)
  await expect.poll(() => open.sandbox.namespace.readiness()).toEqual({ ready: true })
  expect(outcome(await open.acme.get('pools'))).toBe('200')
})

test('an Anvil that is killed during a reset does not keep it from its end', async () => {
  for (const after of [0, 4, 8, 13, 20]) {
    await open.acme.deposit('alice', (await open.acme.get('end_users/alice/portfolios')).body.data[0].portfolio_id, '5')
    const resetting = control('POST', 'reset')
    await atSomeMoment(after)
    const pid = anvilPid(open)
    process.kill(pid, 'SIGKILL')
    expect((await resetting).status, `killed after ${after} ms`).toBe(200)
    await expect.poll(() => anvilPid(open)).not.toBe(pid)
    await expect.poll(() => open.sandbox.namespace.readiness()).toEqual({ ready: true })
    await new Ledger(open).expectSound()
  }
})
