import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { NamespaceFolders } from '../../src/data-dir/namespace-folders.ts'
import { type Credentials, type SandboxHandle, startSandbox } from '../../src/index.ts'
import { Partner, partnerAt } from '../helpers/partner.ts'

let directory: string
let sandbox: SandboxHandle

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-lives-'))
  await start()
})
afterEach(() => vi.restoreAllMocks())
afterAll(async () => {
  await sandbox.stop()
  await rm(directory, { recursive: true, force: true })
})

async function start(): Promise<void> {
  sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, dataDir: directory })
}

async function restart(): Promise<void> {
  await sandbox.stop()
  await start()
}

const control = (path: string, init: RequestInit = {}) =>
  fetch(new URL(`/_sandbox/namespaces${path}`, sandbox.baseUrl), {
    ...init,
    ...(init.body !== undefined && { headers: { 'content-type': 'application/json' } }),
  })
const make = (name: string) => control('', { method: 'POST', body: JSON.stringify({ name }) })
const drop = async (name: string) => (await control(`/${name}`, { method: 'DELETE' })).status
const credentialsOf = async (name: string) => (await (await control(`/${name}/credentials`)).json()) as Credentials
const folders = () => readdir(join(directory, 'namespaces')).catch(() => [])

/** Makes one, and deposits in it; answers the amounts that its list then shows. */
async function madeWithDeposit(name: string) {
  const response = await make(name)
  expect(response.status).toBe(201)
  const credentials = (await response.json()) as Credentials
  const partner = partnerAt(credentials)
  const portfolio = await partner.open('zoe')
  expect((await partner.deposit('zoe', portfolio, '2000000')).status).toBe(200)
  return { credentials, portfolio }
}

test('a name that is made anew while its namesake is deleted loses nothing, over and over, under load', async () => {
  const names = ['ci-1', 'ci-2', 'ci-3', 'ci-4']
  const lives = await Promise.all(
    names.map(async (name) => {
      let life = await madeWithDeposit(name)
      for (let round = 0; round < 6; round++) {
        const dropped = drop(name)
        life = await madeWithDeposit(name)
        expect(await dropped).toBe(204)
      }
      return life
    }),
  )
  expect(await folders()).toHaveLength(names.length)
  await restart()
  for (const [i, { credentials, portfolio }] of lives.entries()) {
    const { tenants } = credentials
    const partner = partnerAt({ ...(await credentialsOf(names[i]!)), tenants })
    const { body } = await partner.get('end_users/zoe/portfolios')
    expect(body.data).toMatchObject([{ portfolio_id: portfolio, deposited: '2000000' }])
    expect(await (await control(`/${names[i]}/audit`)).json()).toMatchObject({ ok: true })
  }
  for (const name of names) expect(await drop(name)).toBe(204)
  expect(await folders()).toEqual([])
}, 60_000)

test('of several that want a name which is being freed, one gets it', async () => {
  expect((await make('wanted')).status).toBe(201)
  const dropped = [drop('wanted'), drop('wanted')]
  const made = await Promise.all([make('wanted'), make('wanted'), make('wanted')])
  expect(await Promise.all(dropped)).toEqual([204, 204])
  expect(made.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  expect(await drop('wanted')).toBe(204)
})

test('one that is still being made is deleted when it is, and is there for nobody', async () => {
  const made = make('early')
  await expect.poll(folders).toHaveLength(1)
  const dropped = drop('early')
  expect((await made).status).toBe(201)
  expect(await dropped).toBe(204)
  expect(await folders()).toEqual([])
  expect((await control('/early/clock')).status).toBe(404)
})

test('a cursor is good in one life, restarts included, and not in that of a namesake', async () => {
  const first = await sandbox.namespaces.create({ name: 'mine' })
  const page = (partner: Partner, query = '') => partner.get(`pools?limit=1${query}`)
  const { next_cursor } = (await page(new Partner(first))).body
  const { tenants } = first
  await restart()
  const same = partnerAt({ ...(await credentialsOf('mine')), tenants })
  expect((await page(same, `&starting_after=${next_cursor}`)).status).toBe(200)
  expect(await drop('mine')).toBe(204)
  await using namesake = await sandbox.namespaces.create({ name: 'mine' })
  const refused = await page(new Partner(namesake), `&starting_after=${next_cursor}`)
  expect(refused).toMatchObject({ status: 400, body: { code: 'cursor_invalid' } })
})

test('one that cannot be kept is not made: its name is free, and no folder of it stays', async () => {
  vi.spyOn(NamespaceFolders.prototype, 'keep').mockRejectedValueOnce(new Error('no room'))
  expect((await make('unlucky')).status).toBe(500)
  expect(await folders()).toEqual([])
  expect((await make('unlucky')).status).toBe(201)
  expect(await drop('unlucky')).toBe(204)
})

test('a deletion that cannot be kept is refused, and has changed nothing; one whose files stay is done', async () => {
  const mine = await sandbox.namespaces.create({ name: 'mine' })
  const partner = new Partner(mine)
  vi.spyOn(NamespaceFolders.prototype, 'forget').mockRejectedValueOnce(new Error('read-only'))
  expect(await drop('mine')).toBe(500)
  expect((await partner.get('pools')).status).toBe(200)
  expect((await sandbox.namespaces.list()).map(({ name }) => name)).toEqual(['default', 'mine'])

  vi.spyOn(NamespaceFolders.prototype, 'remove').mockRejectedValueOnce(new Error('busy'))
  expect(await drop('mine')).toBe(204)
  expect((await partner.get('pools')).status).toBe(401)
  expect(await folders()).toHaveLength(1)
  const { credentials } = await madeWithDeposit('mine')
  await restart()
  expect(await folders()).toHaveLength(1)
  const clients = ({ tenants }: Credentials) => tenants.map(({ client_id }) => client_id)
  expect(clients(await credentialsOf('mine'))).toEqual(clients(credentials))
})
