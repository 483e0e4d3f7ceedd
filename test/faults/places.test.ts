import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let globex: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  globex = new Partner(sandbox, 'globex')
  await Promise.all([acme.idpToken(), globex.idpToken()])
})
afterAll(() => sandbox.stop())
afterEach(() => sandbox.faults.clear())

const hits = async () => (await sandbox.faults.list()).map((rule) => rule.hits)

/** An end user nobody can know the name of, with a portfolio. */
async function newUser(partner = acme): Promise<User> {
  const name = `u-${randomUUID()}`
  return { partner, name, portfolio: await partner.open(name) }
}

interface User {
  partner: Partner
  name: string
  portfolio: string
}

const look = ({ partner, name }: User) => partner.get(`end_users/${name}/portfolios`).then(outcome)
const deposit = ({ partner, name, portfolio }: User, key: string | null = randomUUID()) =>
  partner.deposit(name, portfolio, '1000', { key }).then(outcome, () => 'dropped')

/** So many deposits, one after the other. */
async function deposits(user: User, count: number): Promise<string[]> {
  const ends: string[] = []
  for (let i = 0; i < count; i++) ends.push(await deposit(user))
  return ends
}

function broken(match: NonNullable<FaultRule['match']>): FaultRule {
  return { kind: 'error', phase: 'after_broadcast', match, with: { status: 504 } }
}

describe('a rule that names a request by its place', () => {
  test('strikes that request alone, whatever the name, while others ask at the same time', async () => {
    const users = await Promise.all([newUser(), newUser(), newUser()])
    await sandbox.faults.add({
      kind: 'drop_connection',
      phase: 'after_broadcast',
      match: { operation: 'deposit', end_user: 2, ordinal: 3 },
      times: 'always',
    })
    for (const user of users) expect(await look(user)).toBe('200')
    const ends = await Promise.all(users.map((user) => deposits(user, 4)))
    expect(ends).toEqual([Array(4).fill('200'), ['200', '200', 'dropped', '200'], Array(4).fill('200')])
    expect(await hits()).toEqual([1])
  })

  test('by name and ordinal: the second of that end user, not the second of all', async () => {
    const [one, other] = await Promise.all([newUser(), newUser()])
    await sandbox.faults.add(broken({ operation: 'deposit', external_id: one.name, ordinal: 2 }))
    expect([await deposit(other), await deposit(one), await deposit(other)]).toEqual(['200', '200', '200'])
    expect(await deposit(one)).toBe('504 gateway_timeout')
  })

  test('ordinal alone: that of each end user, as often as times says', async () => {
    const [one, other] = await Promise.all([newUser(), newUser()])
    await sandbox.faults.add({ ...broken({ operation: 'deposit', ordinal: 2 }), times: 2 })
    expect(await deposits(one, 3)).toEqual(['200', '504 gateway_timeout', '200'])
    expect(await deposits(other, 3)).toEqual(['200', '504 gateway_timeout', '200'])
  })

  test('end_user alone: all its operations', async () => {
    const [one, other] = await Promise.all([newUser(), newUser()])
    await sandbox.faults.add({ kind: 'insufficient_role', match: { end_user: 2 }, times: 'always' })
    expect([await look(one), await look(other), await deposit(one), await deposit(other)]).toEqual([
      '200',
      '403 insufficient_role',
      '200',
      '403 insufficient_role',
    ])
  })

  test('the same name at another tenant is another end user', async () => {
    const name = `u-${randomUUID()}`
    const [here, there] = await Promise.all(
      [acme, globex].map(async (partner) => ({ partner, name, portfolio: await partner.open(name) })),
    )
    await sandbox.faults.add(broken({ operation: 'deposit', end_user: 2, ordinal: 1 }))
    expect(await deposit(here!)).toBe('200')
    expect(await deposit(there!)).toBe('504 gateway_timeout')
  })
})

describe('the count', () => {
  test('has requests that are refused before the phase, too', async () => {
    const user = await newUser()
    await sandbox.faults.add(broken({ operation: 'deposit', end_user: 1, ordinal: 4 }))
    const { partner, name, portfolio } = user
    expect(await deposit(user, null)).toBe('400 idempotency_key_required')
    expect(outcome(await partner.deposit(name, portfolio, '1', { user: null }))).toBe('401 invalid_user_token')
    expect(outcome(await partner.deposit(name, portfolio, 'much'))).toBe('400 validation_error')
    expect(await deposit(user)).toBe('504 gateway_timeout')
  })

  test('has requests that other rules strike, and is the same for every rule', async () => {
    const user = await newUser()
    const first: FaultRule = { kind: 'error', match: { operation: 'deposit' }, with: { status: 429 } }
    await sandbox.faults.add(
      first,
      broken({ operation: 'deposit', end_user: 1, ordinal: 2 }),
      { kind: 'insufficient_role', match: { operation: 'deposit', end_user: 1, ordinal: 3 } },
      { kind: 'unknown_partner', match: { operation: 'deposit', ordinal: 3 } },
    )
    expect(await deposits(user, 4)).toEqual(['429 rate_limited', '504 gateway_timeout', '403 insufficient_role', '200'])
    expect(await hits()).toEqual([1, 1, 1, 0])
  })

  test('has a repetition with the same key as a request of its own', async () => {
    const user = await newUser()
    const key = randomUUID()
    await sandbox.faults.add({ kind: 'error', match: { operation: 'deposit', ordinal: 2 }, with: { status: 503 } })
    expect([await deposit(user, key), await deposit(user, key), await deposit(user, key)]).toEqual([
      '200',
      '503 service_unavailable',
      '200',
    ])
  })

  test('is by tenant where the path names no end user: tokens, pools, new end users', async () => {
    await sandbox.faults.add(
      { kind: 'token_endpoint_error', match: { operation: 'token', tenant: 'globex', ordinal: 2 } },
      { kind: 'error', match: { operation: 'list_pools', tenant: 'acme', ordinal: 2 }, with: { status: 503 } },
      { kind: 'error', match: { operation: 'create_end_user', ordinal: 2 }, with: { status: 429 } },
    )
    const token = async (partner: Partner) => ((await partner.tokenAnswer()).access_token ? 'token' : 'refused')
    expect([await token(acme), await token(globex), await token(acme), await token(globex)]).toEqual([
      'token',
      'token',
      'token',
      'refused',
    ])
    const pools = (partner: Partner) => partner.get('pools').then(outcome)
    expect([await pools(globex), await pools(acme), await pools(globex), await pools(acme)]).toEqual([
      '200',
      '200',
      '200',
      '503 service_unavailable',
    ])
    const create = (partner: Partner) => partner.post('end_users', { external_id: randomUUID() }).then(outcome)
    expect([await create(globex), await create(acme), await create(acme)]).toEqual(['201', '201', '429 rate_limited'])
  })

  test('begins with the first rule that asks for it, and is kept while one is there', async () => {
    const user = await newUser()
    const [first] = await sandbox.faults.add(broken({ operation: 'deposit', ordinal: 9 }))
    expect(await deposit(user)).toBe('200')
    await sandbox.faults.add(broken({ operation: 'deposit', ordinal: 2 }))
    await sandbox.faults.remove(first!.id)
    expect(await deposit(user)).toBe('504 gateway_timeout')
  })

  test.each([
    ['faults clear', () => sandbox.faults.clear()],
    ['taking the last such rule away', async () => sandbox.faults.remove((await sandbox.faults.list()).at(-1)!.id)],
  ])('begins anew after %s', async (_, begin) => {
    const [one, other] = await Promise.all([newUser(), newUser()])
    await sandbox.faults.add({ kind: 'revert', skip: 9 }, broken({ operation: 'deposit', end_user: 2, ordinal: 3 }))
    expect([await deposit(one), await deposit(other), await deposit(other)]).toEqual(['200', '200', '200'])
    await begin()
    await sandbox.faults.add(broken({ operation: 'deposit', end_user: 2, ordinal: 1 }))
    expect([await deposit(other), await deposit(one)]).toEqual(['200', '504 gateway_timeout'])
  })

  test('begins anew after a reset', async () => {
    await sandbox.faults.add(broken({ operation: 'deposit', end_user: 2, ordinal: 9 }))
    expect(await look(await newUser())).toBe('200')
    await sandbox.reset()
    const user = await newUser()
    await sandbox.faults.add(broken({ operation: 'deposit', end_user: 1, ordinal: 1 }))
    expect(await deposit(user)).toBe('504 gateway_timeout')
  })
})

test('a fault that a request brings along cannot have a place', async () => {
  const { status, body } = await acme.get('pools', { headers: { 'x-sandbox-fault': 'error; ordinal=2' } })
  expect([status, body.code, body.param]).toEqual([400, 'validation_error', 'X-Sandbox-Fault'])
  expect(body.detail).toContain('ordinal: is not a known field')
})
