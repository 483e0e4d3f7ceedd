import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { Partner } from '../helpers/partner.ts'
import { CLOCK, runAlone, runIsolated } from './isolated-run.ts'

const NAMESPACES = 4

let sandbox: SandboxHandle

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, clock: CLOCK })
})
afterAll(() => sandbox.stop())

// A hundred of them: isolation.long.test.ts.
test('tests at once, each in a namespace of its own, get byte for byte what each gets alone', async () => {
  const names = [...Array(NAMESPACES).keys()]
  const runs = await Promise.all(
    names.map(async (i) => {
      await using mine = await sandbox.namespaces.create({ name: `n${i}` })
      return await runIsolated(mine, i)
    }),
  )
  for (const told of runs) expect(told.filter((one) => one === false)).toEqual([])
  expect(runs[3]).toEqual(await runAlone(3))
  expect((await sandbox.audit()).ok).toBe(true)
  expect(await sandbox.clock.iso()).toBe('2030-01-01T00:00:00.000Z')
})

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
