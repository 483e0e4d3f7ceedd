import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import type { OperationPage, OperationRow } from '../../src/overview/contract.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())

/** A namespace of its own, its client, and its control interface. */
async function scene() {
  const namespace = await sandbox.namespaces.create()
  const acme = new Partner(namespace)
  const control = new ControlClient(sandbox.baseUrl, { namespace: namespace.namespace })
  const jar = await acme.open('dave')
  return { namespace, acme, control, jar, [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose]() }
}

/** The page, once it is judged. */
const judged = (control: ControlClient): Promise<OperationPage> =>
  eventually(async () => {
    const page = await control.operations()
    expect(page.judged).toBe(true)
    return page
  })

const dropped = (operation: 'deposit' | 'withdraw'): FaultRule => ({
  kind: 'drop_connection',
  phase: 'after_broadcast',
  match: { operation },
})
const kinds = ({ marks }: OperationRow) => marks.map(({ kind }) => kind)

test('a right client: each operation is done, in one row, and the money is right', async () => {
  await using on = await scene()
  await on.acme.deposit('dave', on.jar, '100000000')
  await on.acme.withdraw('dave', on.jar, '20000000')
  const { operations, headline, total, next_before } = await judged(on.control)
  expect(operations.map(({ operation, outcome, tone }) => [operation, outcome, tone])).toEqual([
    ['withdraw', 'Done', 'plain'],
    ['deposit', 'Done', 'plain'],
    ['create_portfolio', 'Done', 'plain'],
    ['list_pools', 'Done', 'plain'],
    ['create_end_user', 'Done', 'plain'],
    ['token', 'Done', 'plain'],
  ])
  expect(operations[1]).toMatchObject({
    moves_money: true,
    tenant: 'acme',
    external_id: 'dave',
    portfolio_id: on.jar,
    portfolio_name: 'Rainy day',
    amount_minor: '100000000',
    token_symbol: 'USDC',
    token_decimals: 6,
    outcomes: ['told'],
    sentence: 'dave paid 100.00 USDC at the first attempt.',
    status: 200,
    code: null,
  })
  expect(kinds(operations[1]!)).toEqual(['request', 'block', 'answered'])
  expect(operations[1]!.marks[1]!.label).toMatch(/^block \d+, \+100\.00 USDC$/)
  expect([total, next_before]).toEqual([6, null])
  expect(headline).toMatchObject({ tone: 'ok', sentence: 'Money is right.', operation_number: null, contradicted: 0 })
  const withdrawal = await on.control.operation(operations[0]!.number)
  // Aave rounds what is left to the nearest unit, up or down by the moment.
  const { before, expected, after } = withdrawal.money!
  expect([before, expected]).toEqual(['100000000', after])
  expect(['80000000', '80000001']).toContain(after)
})

test('paid twice under a new key is one row with both keys, and the headline', async () => {
  await using on = await scene()
  await on.acme.deposit('dave', on.jar, '100000000')
  await on.namespace.faults.add(dropped('deposit'))
  const keys = [randomUUID(), randomUUID()]
  await on.acme.deposit('dave', on.jar, '250000000', { key: keys[0]! }).catch(() => undefined)
  await on.acme.deposit('dave', on.jar, '250000000', { key: keys[1]! })
  const { operations, headline, total } = await judged(on.control)
  const [row] = operations
  expect(row).toMatchObject({ outcome: 'Paid twice', tone: 'bad', keys, faults: ['drop_connection'] })
  expect(row!.outcomes).toContain('paid_twice')
  expect(row!.finding_ids).toContain('idempotency-key-on-retry')
  expect(kinds(row!)).toEqual(['request', 'block', 'lost', 'retry', 'block', 'answered'])
  expect(row!.sentence).toBe(
    'dave paid 250.00 USDC twice: the answer was lost, and the client tried again under a new key.',
  )
  expect(total).toBe(operations.length)
  expect(headline).toMatchObject({
    ...{ tone: 'bad', sentence: '250.00 USDC moved twice.', more: 0, contradicted: 1 },
    ...{ operation_number: row!.number, operation_title: "dave's deposit" },
  })
  const detail = await on.control.operation(row!.number + 1) // the number of its second request
  expect(detail.number).toBe(row!.number)
  expect(detail.money).toMatchObject({ before: '100000000', expected: '350000000', after: '600000000' })
  expect(detail.findings[0]).toMatchObject({ id: 'idempotency-key-on-retry', impact: 'critical' })
  expect(detail.attempts.map(({ same_key }) => same_key)).toEqual([null, false])
  expect(detail.attempts[1]!.waited_ms).toBeGreaterThanOrEqual(0)
  const steps = detail.attempts.map(({ steps: all }) => all.map(({ step }) => step))
  expect(steps[0]!.slice(0, 4)).toEqual(['request', 'claimed', 'signed', 'broadcast'])
  expect(steps[0]).toContain('lost')
  expect(steps[1]!.at(-1)).toBe('answered')
})

test('dropped and retried under the same key: paid once', async () => {
  await using on = await scene()
  await on.namespace.faults.add(dropped('deposit'))
  const key = randomUUID()
  await on.acme.deposit('dave', on.jar, '250000000', { key }).catch(() => undefined)
  const waiting = (await judged(on.control)).operations[0]
  expect(waiting).toMatchObject({ outcome: 'Answer lost', tone: 'warn', outcomes: ['not_known_yet'] })
  await on.acme.deposit('dave', on.jar, '250000000', { key })
  const { operations, headline } = await judged(on.control)
  expect(operations[0]).toMatchObject({ outcome: 'Retried, paid once', tone: 'ok', keys: [key], outcomes: ['told'] })
  expect(kinds(operations[0]!).slice(0, 4)).toEqual(['request', 'block', 'lost', 'retry'])
  expect(headline.sentence).toBe('Money is right.')
  const { money, attempts } = await on.control.operation(operations[0]!.number)
  expect(money).toMatchObject({ before: '0', expected: '250000000', after: '250000000' })
  expect(attempts[1]!.same_key).toBe(true)
})

test('refused, reverted, and refused before its key was looked at: no money moved, and the row says which', async () => {
  await using on = await scene()
  await on.acme.deposit('dave', on.jar, '100000000')
  await on.acme.withdraw('dave', on.jar, '900000000')
  await on.namespace.faults.add({ kind: 'revert', match: { operation: 'deposit' } })
  await on.acme.deposit('dave', on.jar, '50000000')
  await on.acme.deposit('dave', on.jar, '50000000', { user: null })
  const { operations } = await judged(on.control)
  expect(operations.slice(0, 3).map(({ outcome, tone, code }) => [outcome, tone, code])).toEqual([
    ['Refused', 'plain', 'invalid_user_token'],
    ['Reverted', 'warn', 'transaction_reverted'],
    ['Refused', 'plain', 'insufficient_balance'],
  ])
  expect(kinds(operations[1]!)).toEqual(['request', 'reverted', 'refused'])
  for (const { number } of operations.slice(0, 3)) {
    const { money } = await on.control.operation(number)
    expect([money?.before, money?.expected, money?.after]).toEqual(['100000000', '100000000', '100000000'])
  }
})

/** The default namespace, which gets the requests of nobody known. */
async function home() {
  const acme = new Partner(sandbox)
  return { acme, control: new ControlClient(sandbox.baseUrl), jar: await acme.open('erin') }
}

test('without a key each request is a row, and one whose tenant cannot be read has none', async () => {
  const on = await home()
  for (let i = 0; i < 2; i++) await on.acme.deposit('erin', on.jar, '1000000', { key: null })
  const headers = { authorization: 'Bearer nothing' }
  await on.acme.deposit('erin', on.jar, '1000000', { headers })
  await on.acme.get('nowhere')
  const { operations } = await judged(on.control)
  expect(
    operations.slice(0, 4).map(({ operation, tenant, keys, status }) => [operation, tenant, keys.length, status]),
  ).toEqual([
    [null, 'acme', 0, 404],
    ['deposit', null, 1, 401],
    ['deposit', 'acme', 0, 400],
    ['deposit', 'acme', 0, 400],
  ])
})

test('an attempt with an unreadable token belongs to the operation that has its key', async () => {
  const on = await home()
  const key = randomUUID()
  await on.acme.deposit('erin', on.jar, '1000000', { key, headers: { authorization: 'Bearer nothing' } })
  await on.acme.deposit('erin', on.jar, '1000000', { key })
  const { operations } = await judged(on.control)
  expect(operations[0]).toMatchObject({ operation: 'deposit', tenant: 'acme', outcome: 'Done, attempt 2', tone: 'ok' })
  expect(operations[0]!.request_ids).toHaveLength(2)
})

test('pages lead from the newest to the oldest, each row once', async () => {
  await using on = await scene()
  for (let i = 0; i < 6; i++) await on.acme.get('pools')
  const seen: number[] = []
  let before: number | undefined
  do {
    const page: OperationPage = await on.control.operations({ limit: 4, ...(before !== undefined && { before }) })
    seen.push(...page.operations.map(({ number }) => number))
    before = page.next_before ?? undefined
  } while (before !== undefined)
  expect(seen).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
})

test.each(['0', '-1', '1e1', 'latest', '99999'])('operation %s: 404, and where to look', async (number) => {
  const response = await fetch(`${sandbox.controlUrl}/operations/${number}`)
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ code: 'operation_not_found', param: 'number' })
})

test.each([
  ['limit=0', 'limit'],
  ['limit=1001', 'limit'],
  ['before=0', 'before'],
  ['before=x', 'before'],
  ['befor=1', 'befor'],
])('operations?%s: 400 with the name of the parameter', async (query, param) => {
  const response = await fetch(`${sandbox.controlUrl}/operations?${query}`)
  expect([response.status, ((await response.json()) as { param: string }).param]).toEqual([400, param])
})
