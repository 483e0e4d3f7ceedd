import { expect, test, vi } from 'vitest'
import { NamespaceFolders } from '../../src/data-dir/namespace-folders.ts'
import type { Credentials } from '../../src/index.ts'
import { Partner, partnerAt } from '../helpers/partner.ts'
import {
  control,
  credentialsOf,
  drop,
  folders,
  madeAnew,
  make,
  openLives,
  restart,
  sandbox,
} from './namespace-lives.ts'

openLives()

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

test('one that cannot be kept is not made: its name is free, and no folder of it stays', async () => {
  vi.spyOn(NamespaceFolders.prototype, 'keep').mockRejectedValueOnce(new Error('no room'))
  expect((await make('unlucky')).status).toBe(500)
  expect(await folders()).toEqual([])
  expect((await make('unlucky')).status).toBe(201)
  expect(await drop('unlucky')).toBe(204)
})

// More often: namespace-lives.long.test.ts.
madeAnew(2, 1)

// From here on the sandbox has been started again: a copy of the default namespace needs no seeding, and no Anvil.
test('a cursor is good in one life, restarts included, and not in that of a namesake', async () => {
  const first = await sandbox.namespaces.create({ name: 'mine', from: 'default' })
  const page = (partner: Partner, query = '') => partner.get(`pools?limit=1${query}`)
  const { next_cursor } = (await page(new Partner(first))).body
  const { tenants } = first
  await restart()
  const same = partnerAt({ ...(await credentialsOf('mine')), tenants })
  expect((await page(same, `&starting_after=${next_cursor}`)).status).toBe(200)
  expect(await drop('mine')).toBe(204)
  await using namesake = await sandbox.namespaces.create({ name: 'mine', from: 'default' })
  const refused = await page(new Partner(namesake), `&starting_after=${next_cursor}`)
  expect(refused).toMatchObject({ status: 400, body: { code: 'cursor_invalid' } })
})

test('a deletion that cannot be kept is refused, and has changed nothing; one whose files stay is done', async () => {
  const mine = await sandbox.namespaces.create({ name: 'mine', from: 'default' })
  const partner = new Partner(mine)
  vi.spyOn(NamespaceFolders.prototype, 'forget').mockRejectedValueOnce(new Error('read-only'))
  expect(await drop('mine')).toBe(500)
  expect((await partner.get('pools')).status).toBe(200)
  expect((await sandbox.namespaces.list()).map(({ name }) => name)).toEqual(['default', 'mine'])

  vi.spyOn(NamespaceFolders.prototype, 'remove').mockRejectedValueOnce(new Error('busy'))
  expect(await drop('mine')).toBe(204)
  expect((await partner.get('pools')).status).toBe(401)
  expect(await folders()).toHaveLength(1)
  const namesake = await sandbox.namespaces.create({ name: 'mine', from: 'default' })
  expect((await new Partner(namesake).post('end_users', { external_id: 'zoe' })).status).toBe(201)
  const credentials = await namesake.credentials()
  await restart()
  expect(await folders()).toHaveLength(1)
  const clients = ({ tenants }: Credentials) => tenants.map(({ client_id }) => client_id)
  expect(clients(await credentialsOf('mine'))).toEqual(clients(credentials))
})
