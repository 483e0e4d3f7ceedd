import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FaultRule } from '../../src/faults/fault-rule.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { eventually } from '../helpers/eventually.ts'
import type { Partner } from '../helpers/partner.ts'
import { type OpenNamespace, openNamespace } from '../reliability/ledger.ts'

const ALL = ['claimed', 'signed', 'broadcast', 'mined', 'confirmed', 'settled']

let open: OpenNamespace
let acme: Partner
let portfolio: string
beforeAll(async () => {
  open = await openNamespace()
  acme = open.acme
  portfolio = await acme.open('dan')
})
afterAll(() => open.stop())
beforeEach(() => {
  services().faults.clear()
  log().clear()
})

const services = () => open.sandbox.namespace.services
const log = () => services().exchanges
const add = (rule: FaultRule) => services().faults.add([rule], ['acme'])
const deposit = (key = randomUUID(), amount = '1000') => acme.deposit('dan', portfolio, amount, { key })

const stepsOf = ({ transfer }: RecordedExchange) => transfer?.steps ?? []
const namesOf = (exchange: RecordedExchange) => stepsOf(exchange).map(({ step }) => step)
const lateOf = (exchange: RecordedExchange) => stepsOf(exchange).flatMap((one) => (one.after_end ? [one.step] : []))

/** The only exchange, once its transfer is settled. */
const settled = () =>
  eventually(() => {
    const [exchange] = log().all()
    expect(namesOf(exchange!)).toContain('settled')
    return exchange!
  })

test('a deposit: every step within the exchange, in order, with nonce and block', async () => {
  const before = Date.now()
  const { body } = await deposit()
  const exchange = log().all()[0]!
  expect(namesOf(exchange)).toEqual(ALL)
  const times = stepsOf(exchange).map(({ at }) => Date.parse(at.wall))
  expect(times).toEqual([...times].sort((a, b) => a - b))
  expect(times[0]).toBeGreaterThanOrEqual(before)
  expect(times.at(-1)).toBeLessThanOrEqual(Date.parse(exchange.ended!.wall))
  expect(lateOf(exchange)).toEqual([])

  const [chain] = services().chains.all()
  const [sent] = (await chain!.ask([['eth_getTransactionByHash', body.tx_hash]])) as {
    nonce: string
    blockNumber: string
  }[]
  const facts = stepsOf(exchange).flatMap(({ step, block, nonce }) =>
    (block ?? nonce) === undefined ? [] : [{ step, block, nonce }],
  )
  expect(facts).toEqual([
    { step: 'signed', block: undefined, nonce: Number(sent!.nonce) },
    { step: 'mined', block: Number(sent!.blockNumber), nonce: undefined },
  ])
})

test('the delay stands between its block and its confirmation, on the business clock', async () => {
  add({ kind: 'latency', phase: 'after_broadcast', match: { operation: 'deposit' }, with: { delay: '1h' } })
  const asked = deposit()
  await eventually(() => expect(log().all().map(namesOf)).toEqual([['claimed', 'signed', 'broadcast', 'mined']]))
  services().service.clock.advance(3_600_000)
  await asked
  const [mined, confirmed] = stepsOf(log().all()[0]!)
    .slice(3)
    .map(({ at }) => Date.parse(at.clock))
  expect(confirmed! - mined!).toBeGreaterThanOrEqual(3_600_000)
})

test('of a repetition and of one that joined: none of their own', async () => {
  const key = randomUUID()
  await Promise.all([deposit(key), deposit(key)])
  await deposit(key)
  const steps = log()
    .all()
    .map((exchange) => [exchange.idempotency?.use, exchange.transfer?.tx_hash !== undefined, namesOf(exchange)])
  expect(steps).toEqual(
    expect.arrayContaining([
      ['first', true, ALL],
      ['joined', true, []],
      ['replayed', true, []],
    ]),
  )
})

test('of a refused amount: it was claimed, and nothing else', async () => {
  expect((await deposit(randomUUID(), `1${'0'.repeat(30)}`)).status).toBe(422)
  expect(log().all().map(namesOf)).toEqual([['claimed']])
})

test('a transaction that reverts is mined and settled too', async () => {
  add({ kind: 'revert', match: { operation: 'deposit' } })
  expect((await deposit()).status).toBe(422)
  expect(log().all().map(namesOf)).toEqual([ALL])
})

describe('an answer that a fault drops is on one side of every step, whatever the clock shows', () => {
  test.each([
    ['before_broadcast', ['signed', 'broadcast', 'mined', 'confirmed', 'settled']],
    ['after_broadcast', ['confirmed', 'settled']],
    ['after_confirmation', []],
    ['during_response', []],
  ] as const)('%s', async (phase, late) => {
    add({ kind: 'drop_connection', phase, match: { operation: 'deposit' } })
    await expect(deposit()).rejects.toThrow()
    const exchange = await settled()
    expect(exchange).toMatchObject({ end: 'dropped' })
    expect(namesOf(exchange)).toEqual(ALL)
    expect(lateOf(exchange)).toEqual(late)
  })
})
