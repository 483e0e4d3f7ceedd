import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { goodHeaders, send } from '../http/raw-http.ts'

const AMOUNT = '500000000'
const MONTH = '30d'

let sandbox: SandboxHandle
let acme: Partner
let users = 0
beforeAll(async () => {
  sandbox = await testNamespace()
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

/** A new end user with an empty portfolio. */
async function opened(): Promise<{ user: string; portfolio: string }> {
  const user = `saver-${++users}`
  return { user, portfolio: await acme.open(user) }
}

const listed = async (user: string) =>
  (await acme.get(`end_users/${user}/portfolios`)).body.data[0].total_balance as string
const movedLast = async (user: string) =>
  (await acme.get(`end_users/${user}/transactions?limit=1`)).body.data[0].amount_changed as string

/** How an answer is kept from its client. */
const UNRECEIVED: [string, Partial<FaultRule>][] = [
  ['was dropped', { kind: 'drop_connection', phase: 'during_response' }],
  ['was dropped after the broadcast', { kind: 'drop_connection', phase: 'after_broadcast' }],
  ['was closed without a byte', { kind: 'drop_connection', phase: 'during_response', with: { how: 'close' } }],
  ['was cut short', { kind: 'drop_connection', phase: 'during_response', with: { how: 'truncate', bytes: 20 } }],
  ['was replaced by an error', { kind: 'error', phase: 'during_response', with: { status: 500 } }],
  ['was replaced by an error after the broadcast', { kind: 'error', phase: 'after_broadcast', with: { status: 504 } }],
  ['was replaced by HTML', { kind: 'malformed_body', with: { how: 'html' } }],
  ['was cut JSON', { kind: 'malformed_body', with: { how: 'cut' } }],
]

test.each(UNRECEIVED)('Assumption withdraw-all: a deposit whose answer %s shows nothing', async (_, fault) => {
  const { user, portfolio } = await opened()
  await sandbox.faults.add({ ...fault, match: { operation: 'deposit', external_id: user } } as FaultRule)
  const answer = await acme.deposit(user, portfolio, AMOUNT).catch(() => undefined)
  expect(answer?.body?.total_balance).toBeUndefined()
  await sandbox.clock.advance(MONTH)
  const { body } = await acme.withdraw(user, portfolio, AMOUNT)
  expect(await movedLast(user)).toBe(AMOUNT)
  expect(BigInt(body.total_balance)).toBeGreaterThan(0n)
})

test.each(UNRECEIVED.filter(([, { phase }]) => phase !== 'after_broadcast'))(
  'Assumption withdraw-all: a list whose answer %s shows nothing anew',
  async (_, fault) => {
    const { user, portfolio } = await opened()
    await acme.deposit(user, portfolio, AMOUNT)
    await sandbox.clock.advance(MONTH)
    const shown = await listed(user)
    await sandbox.clock.advance(MONTH)
    await sandbox.faults.add({ ...fault, match: { operation: 'list_portfolios', external_id: user } } as FaultRule)
    const again = await acme.get(`end_users/${user}/portfolios`).catch(() => undefined)
    expect(again?.body?.data).toBeUndefined()
    expect((await acme.withdraw(user, portfolio, shown)).body).toMatchObject({ total_balance: '0' })
  },
)

test('Assumption withdraw-all: a list asked for by HEAD shows nothing anew', async () => {
  const { user, portfolio } = await opened()
  await acme.deposit(user, portfolio, AMOUNT)
  const shown = await listed(user)
  await sandbox.clock.advance(MONTH)
  const path = `/v1/partner/end_users/${user}/portfolios`
  const head = await send(sandbox.baseUrl, { method: 'HEAD', path, headers: await goodHeaders(acme, user) })
  expect([head.status, head.text]).toEqual([200, ''])
  await sandbox.clock.advance(MONTH)
  expect((await acme.withdraw(user, portfolio, shown)).body).toMatchObject({ total_balance: '0' })
})

test('Assumption withdraw-all: a list whose client had gone shows nothing anew', async () => {
  const { user, portfolio } = await opened()
  await acme.deposit(user, portfolio, AMOUNT)
  const shown = await listed(user)
  await sandbox.clock.advance(MONTH)
  const match = { operation: 'list_portfolios', external_id: user } as const
  const [rule] = await sandbox.faults.add({ kind: 'latency', phase: 'on_request', match, with: { delay: '1h' } })
  const gone = new AbortController()
  const list = acme.get(`end_users/${user}/portfolios`, { signal: gone.signal })
  await expect.poll(async () => (await sandbox.faults.list()).find(({ id }) => id === rule!.id)?.hits).toBe(1)
  gone.abort()
  await expect(list).rejects.toThrow()
  await sandbox.clock.advance('1h')
  await expect.poll(async () => (await sandbox.requests.list({ ...match, end: 'abandoned' })).data).toHaveLength(1)
  expect((await acme.withdraw(user, portfolio, shown)).body).toMatchObject({ total_balance: '0' })
})

test('Assumption withdraw-all: the repetition of an answer that was lost shows what that would have', async () => {
  const { user, portfolio } = await opened()
  const key = randomUUID()
  await sandbox.faults.add({ kind: 'drop_connection', match: { operation: 'deposit', external_id: user } })
  await expect(acme.deposit(user, portfolio, AMOUNT, { key })).rejects.toThrow()
  const { body } = await acme.deposit(user, portfolio, AMOUNT, { key })
  await sandbox.clock.advance(MONTH)
  expect((await acme.withdraw(user, portfolio, body.total_balance)).body).toMatchObject({ total_balance: '0' })
})

test('Assumption withdraw-all: fields that a fault adds to an answer take nothing from what it shows', async () => {
  const { user, portfolio } = await opened()
  await sandbox.faults.add({ kind: 'unknown_fields', match: { operation: 'deposit', external_id: user } })
  const { body } = await acme.deposit(user, portfolio, AMOUNT)
  await sandbox.clock.advance(MONTH)
  expect((await acme.withdraw(user, portfolio, body.total_balance)).body).toMatchObject({ total_balance: '0' })
})

test('the record and the report of a withdrawal of everything name the request that showed the total', async () => {
  const { user, portfolio } = await opened()
  await acme.deposit(user, portfolio, AMOUNT)
  await sandbox.clock.advance(MONTH)
  const list = await acme.get(`end_users/${user}/portfolios`)
  const shown_by = list.headers.get('x-service-request-id')!
  await sandbox.clock.advance(MONTH)
  const withdrawal = await acme.withdraw(user, portfolio, list.body.data[0].total_balance)
  const { transfer, explanation } = await sandbox.requests.get(withdrawal.headers.get('x-service-request-id')!)
  expect(transfer).toMatchObject({ type: 'withdraw', shown_by })
  expect(explanation.join('\n')).toContain(`The answer to ${shown_by} showed this amount as the total`)
  const { exchanges } = await sandbox.report()
  expect(
    exchanges.find(({ external_id, operation }) => external_id === user && operation === 'withdraw'),
  ).toMatchObject({ shown_by })

  const part = await acme.open(user)
  await acme.deposit(user, part, AMOUNT)
  const some = await acme.withdraw(user, part, '1')
  expect((await sandbox.requests.get(some.headers.get('x-service-request-id')!)).transfer).toMatchObject({
    shown_by: null,
  })
})
