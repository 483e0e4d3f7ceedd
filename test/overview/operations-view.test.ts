import { expect, test } from 'vitest'
import { News } from '../../src/overview/news.ts'
import { Overview } from '../../src/overview/overview.ts'
import { evidenceOf } from '../../src/sandbox/evidence-of.ts'
import { partnerAt } from '../helpers/partner.ts'
import { openViewed, sameRows, sandbox } from './rows-of-stream.ts'

openViewed()

// Of other seeds: operations-view.long.test.ts.
sameRows([1])

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
