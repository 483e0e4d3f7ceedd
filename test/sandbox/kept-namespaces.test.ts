import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Partner } from '../helpers/partner.ts'
import { again, folderOf, folders, goOn, openKept, restart, running, start } from './kept.ts'

// Each test goes on with the sandbox that the last restart of the one before has left.
openKept('all tests')

// Strange folders, and a fixture of its own: kept-namespaces.long.test.ts.
test('each is there after a restart as it was: clients, money, clock, chain', async () => {
  const before = await goOn()
  const mine = await before.namespaces.create({ name: 'mine', clock: '2030-01-01T00:00:00Z' })
  const partner = new Partner(mine)
  const portfolio = await partner.open('zoe')
  const deposit = await partner.deposit('zoe', portfolio, '2000000')
  expect(deposit.status).toBe(200)
  await mine.clock.advance('30d')
  const block = await mine.chain.getBlock()

  const after = await restart()
  expect(await after.namespaces.list()).toMatchObject([
    { name: 'default' },
    { name: 'mine', ready: true, tenants: expect.arrayContaining(['acme']) },
  ])
  const same = await again(after, mine)
  const listed = await same.get('end_users/zoe/portfolios')
  expect(listed.body.data).toMatchObject([{ portfolio_id: portfolio }])
  const control = (path: string) =>
    fetch(new URL(`/_sandbox/namespaces/mine/${path}`, after.baseUrl)).then((r) => r.json())
  expect(await control('clock')).toMatchObject({ now: '2030-01-31T00:00:00.000Z', frozen: true })
  expect(await control('audit')).toMatchObject({ ok: true })
  const rpc = new URL('/rpc/mine/31337', after.baseUrl)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByHash', params: [block.hash, false] })
  const found = await (
    await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  ).json()
  expect(found).toMatchObject({ result: { hash: block.hash } })
  expect((await same.withdraw('zoe', portfolio, '1000000')).status).toBe(200)
})

test('one that is damaged is refused by name, while the others serve; it can be deleted', async () => {
  const before = await goOn()
  // Copies of the default namespace need no seeding, and no Anvil.
  const make = (name: string) => before.namespaces.create({ name, from: 'default' })
  const [good, bad, worse] = [await make('good'), await make('bad'), await make('worse')]
  for (const sandbox of running.splice(0)) await sandbox.stop()
  const ledger = join(await folderOf('bad'), 'ledger.journal')
  const text = await readFile(ledger)
  text[200] = text[200]! ^ 1
  await writeFile(ledger, text)
  await writeFile(join(await folderOf('worse'), 'namespace.json'), '{')

  const after = await start()
  expect((await (await again(after, good)).get('pools')).status).toBe(200)
  const refused = await fetch(new URL('/_sandbox/namespaces/bad/clock', after.baseUrl))
  expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
    503,
    expect.stringContaining(ledger),
  ])
  await expect((await again(after, bad)).idpToken()).resolves.toBeUndefined()
  expect(worse.namespace).toBe('worse')
  const list = await after.namespaces.list()
  expect(list.map(({ name, ready }) => [name, ready])).toEqual([
    ['default', true],
    ['bad', false],
    ['good', true],
    ['worse', false],
  ])
  for (const name of ['bad', 'worse']) await after.namespaces.delete(name)
  expect(await folders()).toEqual([expect.stringMatching(/^good\./)])
})

test('deleting one removes its files; what a kill left of one goes at the next start', async () => {
  const sandbox = await goOn()
  const mine = await sandbox.namespaces.create({ name: 'mine', from: 'default' })
  expect(await folders()).toEqual([expect.stringMatching(/^mine\./)])
  await mine.stop()
  expect(await folders()).toEqual([])
  await sandbox.namespaces.create({ name: 'half', from: 'default' })
  for (const one of running.splice(0)) await one.stop()
  await rm(join(await folderOf('half'), 'namespace.json'))
  const after = await start()
  expect(await folders()).toEqual([])
  expect(await after.namespaces.list()).toHaveLength(1)
})
