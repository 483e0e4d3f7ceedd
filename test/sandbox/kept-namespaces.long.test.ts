import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { again, folderOf, folders, kept, openKept, restart, running, start } from './kept.ts'

openKept()

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

test('where they are kept cannot be read: the start is refused, and the next one can use the directory', async () => {
  await start()
  for (const sandbox of running.splice(0)) await sandbox.stop()
  const path = kept()
  await writeFile(path, '')
  await expect(start()).rejects.toThrow(/data\/namespaces.*is below, a file/)
  await rm(path)
  expect(await (await start()).namespaces.list()).toMatchObject([{ name: 'default', ready: true }])
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
