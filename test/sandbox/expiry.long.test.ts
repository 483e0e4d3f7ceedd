import { expect, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { Partner } from '../helpers/partner.ts'
import { bearer, gone, isThere, openForgetful, sandbox } from './forgetful.ts'

openForgetful()

test('one whose events somebody follows, or that is held, stays as long as they do; default stays for ever', async () => {
  const followed = await sandbox.namespaces.create()
  const over = new AbortController()
  const { control_url, control_token = '' } = await followed.credentials()
  const events = await fetch(`${control_url}/events`, { headers: bearer(control_token), signal: over.signal })
  const held = await sandbox.namespaces.create()
  const partner = new Partner(held)
  await partner.idpToken()
  await held.faults.add({ kind: 'hang', match: { operation: 'list_pools' } })
  const waiting = partner.get('pools', { signal: over.signal }).catch(() => undefined)
  await eventually(async () => expect((await held.faults.list())[0]).toMatchObject({ hits: 1 }))
  // Two that come after them go before them.
  for (const _ of [1, 2]) await gone(await sandbox.namespaces.create())
  expect([await isThere(followed), await isThere(held)]).toEqual([true, true])
  // Read here: fetch ends the connection of an answer that nobody refers to any more.
  expect(events.status).toBe(200)
  over.abort()
  await waiting
  await gone(followed)
  await gone(held)
  expect((await sandbox.clock.state()).frozen).toBe(false)
})
