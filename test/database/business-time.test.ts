import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { PostgresStorage } from '../../src/database/postgres-storage.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { openRegistry, openStorage } from './workbench.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]
/** Milliseconds: far more than a statement takes, and far less than these machines' clocks differ. */
const ABOUT = 10_000

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

/** A machine whose clock is ahead of real time by so many milliseconds, and a process on it. */
async function machine(ahead: number) {
  const own = { ahead }
  const clock = Object.assign(new SandboxClock(), { wallNow: () => Date.now() + own.ahead })
  const registry = await openRegistry(server.url(), { clock, leaseMs: 600_000 })
  onTestFinished(() => registry.close())
  /** Business time of a namespace that this machine has. */
  const now = ({ manifest }: PostgresStorage) =>
    new SandboxClock(undefined, manifest.data.clock).at(Date.now() + own.ahead)
  return { own, registry, now }
}

describe.skipIf(noPostgres !== undefined)(
  `business time, when a namespace moves to a machine of another time${noPostgres ? ` (${noPostgres})` : ''}`,
  () => {
    it.each([
      ['behind', 2 * MINUTE, -2 * MINUTE],
      ['ahead', -2 * MINUTE, 2 * MINUTE],
    ])('goes on by the time that passes, when that is %s', async (name, first, second) => {
      const [one, other] = [await machine(first), await machine(second)]
      const storage = await openStorage(one.registry, name)
      const position = { offset: HOUR, frozen_at: null }
      await storage.manifest.update({ clock: position })
      expect(storage.manifest.data.clock).toEqual(position)
      const [before, at] = [one.now(storage), performance.now()]
      expect(Math.abs(before - (Date.now() + first + HOUR))).toBeLessThan(ABOUT)
      await storage.close()
      const moved = await openStorage(other.registry, name)
      const passed = performance.now() - at
      expect(Math.abs(other.now(moved) - before - passed)).toBeLessThan(ABOUT)
      await moved.manifest.update({ clean: true }) // which is no move of the clock
      expect(Math.abs(other.now(moved) - before - passed)).toBeLessThan(ABOUT)
      await moved.close()
      const back = await openStorage(one.registry, name)
      expect(Math.abs(one.now(back) - before)).toBeLessThan(ABOUT)
    })

    it('stays where it is frozen', async () => {
      const [one, other] = [await machine(2 * MINUTE), await machine(-2 * MINUTE)]
      const storage = await openStorage(one.registry, 'frozen')
      const position = { offset: 7, frozen_at: Date.UTC(2030, 0) }
      await storage.manifest.update({ clock: position })
      await storage.close()
      const moved = await openStorage(other.registry, 'frozen')
      expect(moved.manifest.data.clock).toEqual(position)
    })

    it('does so too after a machine has set its clock back while it had the namespace', async () => {
      const [one, other] = [await machine(0), await machine(0)]
      const storage = await openStorage(one.registry, 'back')
      await storage.manifest.update({ clock: { offset: 0, frozen_at: null } })
      one.own.ahead = -HOUR
      await one.registry.lease.renewed()
      // The sandbox's clock goes on from where it was, with a greater lead, which the next move of the clock stores.
      await storage.manifest.update({ clock: { offset: HOUR, frozen_at: null } })
      await storage.close()
      const moved = await openStorage(other.registry, 'back')
      expect(Math.abs(other.now(moved) - Date.now())).toBeLessThan(ABOUT)
    })

    it('does so too when that has set its clock back since it last heard of the database', async () => {
      const [one, other] = [await machine(0), await machine(0)]
      const storage = await openStorage(one.registry, 'behind-now')
      await storage.manifest.update({ clock: { offset: HOUR, frozen_at: null } })
      const before = one.now(storage)
      await storage.close()
      other.own.ahead = -HOUR
      const moved = await openStorage(other.registry, 'behind-now')
      expect(Math.abs(other.now(moved) - before)).toBeLessThan(ABOUT)
      await moved.manifest.update({ clock: moved.manifest.data.clock })
      await other.registry.lease.renewed()
      expect(Math.abs(other.now(moved) - before)).toBeLessThan(ABOUT)
    })
  },
)
