import { expect } from 'vitest'
import { CuttingProxy } from '../helpers/cutting-proxy.ts'
import type { Postgres } from '../helpers/postgres.ts'
import { ownConnection, storedEntries } from './rows.ts'
import { openRegistry, openStorage } from './workbench.ts'

/**
 * Appends once for every so many bytes of the request or the reply, and cuts the connection there. Every append must resolve, and stand in
 * the database once, in order.
 */
export async function cutEverywhere(server: Postgres, way: 'request' | 'reply', step: number): Promise<void> {
  const proxy = await CuttingProxy.before(server.port)
  const registry = await openRegistry(server.url('postgres', proxy.port), { leaseMs: 600_000 })
  const name = `cut-${way}`
  const storage = await openStorage(registry, name)
  const journal = await storage.journal<number>('ledger')
  let appended = 0
  for (let bytes = 1; ; bytes += step) {
    proxy.cut(way, bytes)
    await journal.append(++appended)
    if (proxy.armed) break // the whole exchange has fewer bytes
  }
  proxy.disarm()
  const stored = await storedEntries(await ownConnection(server.url()), name)
  expect(appended).toBeGreaterThan(10)
  expect(stored.map(({ value }) => value)).toEqual(Array.from({ length: appended }, (_, i) => i + 1))
  expect(storage.lost.aborted).toBe(false)
  await registry.close()
  await proxy.close()
}
