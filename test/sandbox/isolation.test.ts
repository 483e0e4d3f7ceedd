import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { type Answer, Partner } from '../helpers/partner.ts'

const CLOCK = '2030-01-01T00:00:00Z'
const NAMESPACES = 100
const HEADERS = ['x-service-request-id', 'idempotency-key-replay', 'retry-after', 'content-type']

let sandbox: SandboxHandle

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, clock: CLOCK, maxNodes: 128 })
})
afterAll(() => sandbox.stop())

/** A key of a fixed run: UUID v4, the same every time. */
const keyOf = (i: number, step: number) => `00000000-0000-4000-8000-${String(i * 100 + step).padStart(12, '0')}`

const seen = ({ status, headers, body }: Answer) => ({
  status,
  headers: Object.fromEntries(HEADERS.map((name) => [name, headers.get(name)])),
  body,
})

/** What one test does in its namespace: no two do the same. Everything that it is answered. */
async function run(handle: SandboxHandle, i: number): Promise<unknown[]> {
  const partner = new Partner(handle)
  const told: unknown[] = []
  const tell = async (answer: Promise<Answer>) => told.push(seen(await answer))
  const user = `user-${i}`
  await tell(partner.post('end_users', { external_id: user }, { key: keyOf(i, 0) }))
  const body = await partner.portfolioBody(i % 2 === 0 ? 'aave-usdc' : 'morpho-usdc', `of ${i}`)
  const created = await partner.post(`end_users/${user}/portfolios`, body, { key: keyOf(i, 1) })
  told.push(seen(created))
  const { portfolio_id } = created.body
  await handle.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  const deposit = () => partner.deposit(user, portfolio_id, String(1_000_000 + i), { key: keyOf(i, 2) })
  told.push(await deposit().then(seen, () => 'dropped'))
  await tell(deposit())
  await handle.clock.advance(`${30 * (1 + (i % 12))}d`)
  await tell(partner.get(`end_users/${user}/portfolios`))
  await tell(partner.withdraw(user, portfolio_id, '500000', { key: keyOf(i, 3) }))
  await tell(partner.get(`end_users/${user}/transactions`))
  const block = await handle.chain.getBlock()
  told.push([String(block.number), block.hash])
  told.push((await handle.audit()).ok)
  if (i % 3 === 0) {
    await handle.reset()
    await tell(partner.get('end_users/alice/portfolios'))
    await tell(partner.get(`end_users/${user}/portfolios`))
  }
  return told
}

/** In a namespace of that name in a sandbox where nobody else is. */
async function alone(i: number): Promise<unknown[]> {
  await using lonely = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, clock: CLOCK })
  await using mine = await lonely.namespaces.create({ name: `n${i}` })
  return await run(mine, i)
}

test('a hundred tests at once, each in a namespace of its own, get byte for byte what each gets alone', async () => {
  const names = [...Array(NAMESPACES).keys()]
  const runs = await Promise.all(
    names.map(async (i) => {
      await using mine = await sandbox.namespaces.create({ name: `n${i}` })
      return await run(mine, i)
    }),
  )
  for (const told of runs) expect(told.filter((one) => one === false)).toEqual([])
  for (const i of [0, 1, 2, 3, 12, 57, 99]) expect(runs[i]).toEqual(await alone(i))
  expect((await sandbox.audit()).ok).toBe(true)
  expect(await sandbox.clock.iso()).toBe('2030-01-01T00:00:00.000Z')
}, 180_000)

test('what one has, no other one knows: its users, keys, ids', async () => {
  await using one = await sandbox.namespaces.create()
  await using other = await sandbox.namespaces.create()
  const [mine, theirs] = [new Partner(one), new Partner(other)]
  const key = randomUUID()
  const first = await mine.post('end_users', { external_id: 'zoe' }, { key })
  expect(await theirs.post('end_users', { external_id: 'yann' }, { key })).toMatchObject({ status: 201 })
  expect(first.headers.get('idempotency-key-replay')).toBe('false')
  const portfolio = await mine.open('zoe')
  const asked = await theirs.deposit('yann', portfolio, '1000')
  expect(asked).toMatchObject({ status: 404, body: { code: 'portfolio_not_found' } })
  const token = await mine.userToken('zoe')
  expect(await theirs.get('end_users/zoe/portfolios', { headers: { 'x-user-token': token } })).toMatchObject({
    status: 404,
    body: { code: 'end_user_not_found' },
  })
})
