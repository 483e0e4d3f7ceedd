import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OperationsView } from '../../src/overview/operations-view.ts'
import { evidenceOf } from '../../src/sandbox/evidence-of.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { EventReader } from './event-reader.ts'

export let sandbox: Sandbox
/** Starts the sandbox of a file's tests, and stops it after them. */
export function openViewed(): void {
  beforeAll(async () => {
    sandbox = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
    await sandbox.ready
  })
  afterAll(() => sandbox.stop())
}

const DROPS = ['before_broadcast', 'after_broadcast', 'after_confirmation'] as const

/** Random traffic of each seed: the stream of events comes to the rows of a view that is made from scratch. */
export function sameRows(seeds: readonly number[]): void {
  test.each(seeds)(
    'after random traffic (seed %i) the rows of the stream are those of a view made from scratch',
    async (seed) => {
      const { namespace } = sandbox
      const { services } = namespace
      const random = new SeededRandom(seed)
      const pick = <One>(of: readonly One[]): One => of[Math.floor(random.next('pick') * of.length)]!
      await namespace.reset()
      const acme = partnerAt(await sandbox.credentials())
      const reader = await EventReader.open(`${sandbox.baseUrl}/_sandbox`)
      await reader.until(({ event }) => event === 'hello')
      const jar = await acme.open('dave')
      const keys = Array.from({ length: 6 }, () => randomUUID())
      for (let i = 0; i < 25; i++) {
        if (random.next('drop') < 0.4) {
          services.faults.add([{ kind: 'drop_connection', phase: pick(DROPS), match: { operation: 'deposit' } }], [])
        }
        const sent = pick([
          () => acme.deposit('dave', jar, pick(['1000000', '2000000']), { key: pick(keys) }),
          () => acme.deposit('dave', jar, '1000000'),
          () => acme.withdraw('dave', jar, pick(['500000', '90000000000']), { key: pick(keys) }),
          () => acme.deposit('dave', jar, '1000000', { key: pick([...keys, null]), user: pick(['dave', null]) }),
          () => acme.get('end_users/dave/transactions'),
        ])()
        if (random.next('wait') < 0.8) await sent.catch(() => undefined)
        else sent.catch(() => undefined)
        if (i === 12) services.exchanges.clear()
      }
      await services.service.transfers.idle()
      const evidence = () => evidenceOf(namespace, { ended: false, end: null })
      await eventually(async () => {
        const scratch = new OperationsView({ exchanges: services.exchanges, store: services.store, seed: 7, evidence })
        await scratch.begin()
        scratch.show(await scratch.judge())
        const rows = await scratch.rows([...scratch.newestFirst()])
        expect(rows.length).toBeGreaterThan(5)
        expect([...reader.rows().values()].sort((a, b) => b.number - a.number)).toEqual(rows)
        const last = reader.events.findLast(({ event }) => event === 'headline')
        expect(last?.data).toEqual(scratch.headline)
      }, 200)
      reader.cut()
    },
  )
}
