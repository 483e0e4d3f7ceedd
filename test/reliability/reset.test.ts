import { afterEach, expect, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

let open: OpenSandbox
afterEach(() => open.stop())

const reset = () => fetch(`${open.sandbox.baseUrl}/_sandbox/reset`, { method: 'POST' })

test('a reset under load leaves no request hanging, and the sandbox as it began', async () => {
  open = await openSandbox()
  for (let round = 0; round < 4; round++) {
    const portfolios = await Promise.all(Array.from({ length: 6 }, (_, i) => open.acme.open(`user-${i}`)))
    const load = Array.from({ length: 60 }, (_, i) => {
      const user = `user-${i % 6}`
      if (i % 5 === 0) return open.acme.get(`end_users/${user}/transactions`)
      if (i % 7 === 0) return open.acme.post('end_users', { external_id: `late-${i}` })
      return open.acme.deposit(user, portfolios[i % 6]!, '1000')
    })
    // In the midst of it: some have been answered, some have not.
    if (round % 2) await Promise.race(load)
    const cleared = reset()
    const answers = await Promise.all([...load, ...Array.from({ length: 10 }, () => open.acme.get('pools'))])
    expect((await cleared).status).toBe(200)
    for (const { status, body, headers } of answers) {
      expect({ status, code: body.code }).toSatisfy(
        ({ status }) => [200, 201, 404, 503].includes(status),
        `an answer a client can act on (${JSON.stringify({ status, body })})`,
      )
      if (status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/)
    }
    // What came while the sandbox was itself again counts; the state it came upon was sound.
    await new Ledger(open).expectSound()
    expect((await reset()).status).toBe(200)
    await expectFresh()
  }
})

test('a reset answers requests held for their confirmation at once', async () => {
  open = await openSandbox({ confirmationDelay: '1h' })
  open.sandbox.namespace.services.service.clock.freeze()
  const portfolio = await open.acme.open('carol')
  const held = [1, 2, 3].map(() => open.acme.deposit('carol', portfolio, '1000'))
  await eventually(async () => expect(await new Ledger(open).unsettled()).toBe(1))
  expect((await reset()).status).toBe(200)
  for (const { status, body, headers } of await Promise.all(held)) {
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'sandbox_starting' })
    expect(headers.get('retry-after')).toBe('1')
  }
  expect(open.sandbox.namespace.services.service.clock.frozen).toBe(false)
  await new Ledger(open).expectSound()
})

test('resets at the same time are each answered, and one state comes of them', async () => {
  open = await openSandbox()
  const answers = await Promise.all(Array.from({ length: 4 }, reset))
  for (const answer of answers) expect(answer.status).toBe(200)
  await expectFresh()
})

/** The fixture's end user with its one funded portfolio, and nobody else; money moves as on the first day. */
async function expectFresh(): Promise<void> {
  const ledger = new Ledger(open)
  await ledger.expectSound()
  expect((await ledger.users()).map(({ external_id }) => external_id)).toEqual(['alice'])
  const { data } = (await open.acme.get('end_users/alice/portfolios')).body
  expect(data).toHaveLength(1)
  expect(data[0]).toMatchObject({ deposited: '2500000000', name: 'Rainy day' })
  const { status } = await open.acme.deposit('alice', data[0].portfolio_id, '1000')
  expect(status).toBe(200)
  await ledger.expectSound()
}
