import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

const PATH = 'end_users/tom/transactions'
interface Item {
  id: string
  type: string
  tx_hash: string
  created_at: string
}

let sandbox: SandboxHandle
let acme: Partner
/** Hashes in the order the transfers were confirmed. */
const hashes: string[] = []
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  await sandbox.clock.freeze()
  const portfolio = await acme.open('tom')
  // Pairs of transfers share an instant: there the id decides the order.
  for (let i = 0; i < 14; i++) {
    hashes.push((await acme.deposit('tom', portfolio, '2000')).body.tx_hash)
    hashes.push((await acme.withdraw('tom', portfolio, '1000')).body.tx_hash)
    await sandbox.clock.advance(1_000)
  }
})
afterAll(() => sandbox.stop())

const list = async (query = ''): Promise<{ data: Item[]; next_cursor: string; prev_cursor: string }> =>
  (await acme.get(`${PATH}${query}`)).body

test("Endpoint 7: 200 with the envelope and the end user's transactions, by tx_hash", async () => {
  const { status, body } = await acme.get(`${PATH}?limit=100`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ has_more: false, next_cursor: null, prev_cursor: null })
  expect(body.data.map(({ tx_hash }: Item) => tx_hash).sort()).toEqual([...hashes].sort())
})

test('Endpoint 7: newest first, created_at descending then id descending', async () => {
  const { data } = await list('?limit=100')
  const sorted = data.toSorted((a, b) => compare(b.created_at, a.created_at) || compare(b.id, a.id))
  expect(data).toEqual(sorted)
  expect(data[0]?.created_at).toBe(data[1]?.created_at)
  expect(data[1]?.created_at).not.toBe(data[2]?.created_at)
})

test('Endpoint 7: limit defaults to 25, maximum 100', async () => {
  expect((await list()).data).toHaveLength(25)
  expect((await list('?limit=2')).data).toHaveLength(2)
  expect((await acme.get(`${PATH}?limit=101`)).status).toBe(400)
})

test('Endpoint 7: starting_after and ending_before page forward and backward', async () => {
  const all = (await list('?limit=100')).data
  const first = await list('?limit=15')
  const second = await list(`?limit=15&starting_after=${first.next_cursor}`)
  expect([...first.data, ...second.data]).toEqual(all)
  expect((await list(`?limit=15&ending_before=${second.prev_cursor}`)).data).toEqual(first.data)
})

test("Endpoint 7: lists the end user's own transactions only", async () => {
  const { data } = (await acme.get('end_users/alice/transactions')).body
  expect(data).toHaveLength(1)
  expect(hashes).not.toContain(data[0].tx_hash)
})

test('Endpoint 7: needs Authorization and X-User-Token of that end user', async () => {
  expect(outcome(await acme.get(PATH, { headers: { authorization: null } }))).toBe('401 token_missing')
  expect(outcome(await acme.get(PATH, { user: null }))).toBe('401 invalid_user_token')
  expect(outcome(await acme.get(PATH, { user: 'alice' }))).toBe('403 sub_url_mismatch')
})

test('Endpoint 7: an unknown end user is 404 end_user_not_found', async () => {
  expect(outcome(await acme.get('end_users/nobody/transactions'))).toBe('404 end_user_not_found')
})

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
