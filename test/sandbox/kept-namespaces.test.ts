import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { Partner } from '../helpers/partner.ts'

let directory: string
const running: SandboxHandle[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-kept-'))
})
afterEach(async () => {
  for (const sandbox of running.splice(0)) await sandbox.stop()
  await rm(directory, { recursive: true, force: true })
})

async function start(): Promise<SandboxHandle> {
  const sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, dataDir: join(directory, 'data') })
  running.push(sandbox)
  return sandbox
}

async function restart(): Promise<SandboxHandle> {
  for (const sandbox of running.splice(0)) await sandbox.stop()
  return start()
}

/** A handle of a namespace that is there already, with the credentials it was made with. */
const again = async (sandbox: SandboxHandle, made: SandboxHandle): Promise<Partner> => {
  const { tenants } = made
  return new Partner(Object.assign(Object.create(sandbox), { tenants }))
}
const kept = () => join(directory, 'data', 'namespaces')
const folders = () => readdir(kept()).catch(() => [])
/** The folder of the namespace that has this name at present. */
async function folderOf(name: string): Promise<string> {
  const folder = (await folders()).find((one) => one.startsWith(`${name}.`))
  return join(kept(), folder ?? expect.fail(`no folder of ${name}`))
}

test('each is there after a restart as it was: clients, money, clock, chain', async () => {
  const before = await start()
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

test('one of a fixture of its own has that after a restart, and after a reset', async () => {
  const before = await start()
  const tenants = [
    {
      slug: 'initech',
      tenant_id: '0a1c3e5a-7b9d-4f10-8a2b-4c6d8e0f1a77',
      client_id: '5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e77',
      client_secret: 'initech-demo-secret',
      issuer: 'https://initech.example',
      key: { kid: 'acme-1', private_key_file: 'demo-keys/acme.pem' },
      access: 'all',
      end_users: [{ external_id: 'peter' }],
    },
  ]
  const mine = await before.namespaces.create({ name: 'mine', fixtures: { tenants }, confirmationDelay: 5 })
  expect(mine.tenants).toMatchObject([{ slug: 'initech', end_users: ['peter'] }])
  expect(mine.tenants[0]!.client_id).not.toBe('5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e77')
  const after = await restart()
  const reset = await fetch(new URL('/_sandbox/namespaces/mine/reset', after.baseUrl), { method: 'POST' })
  expect(reset.status).toBe(200)
  const partner = Object.assign(await again(after, mine), { tenant: 'initech' })
  expect((await partner.get('pools')).status).toBe(200)
})

test('one that is damaged is refused by name, while the others serve; it can be deleted', async () => {
  const before = await start()
  const [good, bad, worse] = [
    await before.namespaces.create({ name: 'good' }),
    await before.namespaces.create({ name: 'bad' }),
    await before.namespaces.create({ name: 'worse' }),
  ]
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

test('where they are kept cannot be read: the start is refused, and the next one can use the directory', async () => {
  await start()
  for (const sandbox of running.splice(0)) await sandbox.stop()
  const path = kept()
  await writeFile(path, '')
  await expect(start()).rejects.toThrow(/data\/namespaces.*is below, a file/)
  await rm(path)
  expect(await (await start()).namespaces.list()).toMatchObject([{ name: 'default', ready: true }])
})

test('deleting one removes its files; what a kill left of one goes at the next start', async () => {
  const sandbox = await start()
  const mine = await sandbox.namespaces.create({ name: 'mine' })
  expect(await folders()).toEqual([expect.stringMatching(/^mine\./)])
  await mine.stop()
  expect(await folders()).toEqual([])
  await sandbox.namespaces.create({ name: 'half' })
  for (const one of running.splice(0)) await one.stop()
  await rm(join(await folderOf('half'), 'namespace.json'))
  const after = await start()
  expect(await folders()).toEqual([])
  expect(await after.namespaces.list()).toHaveLength(1)
})

test('a folder that other hands copied, renamed or gave a file of another one is refused, and the one it came from serves', async () => {
  const before = await start()
  const mine = await before.namespaces.create({ name: 'mine' })
  for (const sandbox of running.splice(0)) await sandbox.stop()
  const folder = await folderOf('mine')
  await cp(folder, `${folder}-copy`, { recursive: true })
  await cp(folder, join(kept(), 'yours.abc'), { recursive: true })
  const older = join(kept(), 'mine')
  await cp(folder, older, { recursive: true })
  const { format, life, checksum, ...said } = JSON.parse(await readFile(join(older, 'namespace.json'), 'utf8'))
  expect([format, life]).toEqual([4, basename(folder)])
  await writeFile(join(older, 'namespace.json'), JSON.stringify(said))
  const after = await start()
  const list = await after.namespaces.list()
  expect(list.slice(1).map(({ name, ready, reason }) => [name, ready, reason])).toEqual([
    ['mine', true, undefined],
    ['mine-2', false, `The folder mine holds a namespace "mine" as well as ${basename(folder)}.`],
    ['mine-3', false, expect.stringContaining(`it is that of another folder (${basename(folder)})`)],
    ['yours', false, expect.stringContaining(`it is that of another folder (${basename(folder)})`)],
  ])
  expect((await (await again(after, mine)).get('pools')).status).toBe(200)
  for (const { name } of list.slice(2)) await after.namespaces.delete(name)
  expect(await folders()).toEqual(['mine'])
})
