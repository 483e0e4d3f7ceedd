import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { News } from '../../src/overview/news.ts'
import { OperationsView } from '../../src/overview/operations-view.ts'
import { Overview } from '../../src/overview/overview.ts'
import { evidenceOf } from '../../src/sandbox/evidence-of.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { EventReader } from './event-reader.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
  await sandbox.ready
})
afterAll(() => sandbox.stop())

const DROPS = ['before_broadcast', 'after_broadcast', 'after_confirmation'] as const

test.each([1, 2, 3])(
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

test('all who look at a namespace share one judgement, until something comes', async () => {
  const { namespace } = sandbox
  const { exchanges, store, service } = namespace.services
  await namespace.reset()
  const acme = partnerAt(await sandbox.credentials())
  await acme.open('dave')
  let judgements = 0
  const evidence = () => {
    judgements++
    return evidenceOf(namespace, { ended: false, end: null })
  }
  const around = { clock: service.clock, seed: 7, log: { error: () => undefined } as never, news: new News() }
  const overview = new Overview({ exchanges, store, evidence, ...around, listen: () => () => undefined })
  const [one, other] = await Promise.all([overview.judged(), overview.judged()])
  await overview.page(10)
  expect([other === one, (await overview.judged()) === one, judgements]).toEqual([true, true, 1])
  await acme.get('pools')
  expect(await overview.judged()).not.toBe(one)
  expect(judgements).toBe(2)
  overview.end('stopping')
})
