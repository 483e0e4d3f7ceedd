import { afterAll, describe, expect, test } from 'vitest'
import { ExplorationSandbox } from '../../src/explore/run/exploration-sandbox.ts'
import { Stage } from '../../src/explore/run/play-command.ts'
import { playTwins } from '../../src/explore/twins/play-twins.ts'
import { abortController } from '../../src/support/waiting.ts'
import { everywhere, TwinWorkers, WORKER } from './twin-workers.ts'

const workers = new TwinWorkers()
afterAll(() => workers[Symbol.dispose]())

const UNANSWERED = 'deposit#1@alice twin-while-unanswered'

// Every variant at every point, and what never ends: twins.long.test.ts. Held at its request: test/cli/explore-twins.test.ts.
describe('a worker that is run twice at once', () => {
  test('pays twice if each process has a key of its own', async () => {
    const found = await workers.outcomes({ MISTAKE: 'key-per-start' }, { trial: UNANSWERED })
    expect(found).toEqual({ [UNANSWERED]: 'paid_twice' })
  })

  test('survives with keys that it stores before it sends', async () => {
    const kinds = ['twin-while-under-way', 'twins-at-once-1']
    expect(await workers.outcomes({}, { operations: ['deposit'], kinds, maxRuns: 3 })).toEqual({
      ...everywhere(['deposit#1', 'deposit#2'], 'survived', ['twin-while-under-way']),
      'deposit#1@alice twins-at-once-1': 'survived',
    })
  })
})

// As on macOS, which has no second loopback address.
test('a second process is known by its port as well', async () => {
  const { signal } = abortController()
  const sandbox = await ExplorationSandbox.open({ seed: 7, confirmationDelay: 0 }, undefined)
  try {
    const position = {
      ...{ operation: 'deposit' as const, tenant: null },
      external_id: 'alice',
      end_user: 1,
      ordinal: 1,
    }
    let addresses: string[] = []
    const play = async (stage: Stage) => {
      const own = await stage.inside()
      const inside = async () => ({ ...own, secondUrl: () => own.secondUrl('127.0.0.1') })
      const moved = new Stage(stage.client, inside, stage.terms, stage.prepare, stage.holding)
      const played = await playTwins(moved, { position, point: { phase: 'on_request' } }, undefined)
      const first = new URL(stage.terms.env.YIELD_SANDBOX_URL ?? '').host
      addresses = [first, played.twin?.address ?? '']
      return played
    }
    const run = { command: WORKER, before: undefined, renames: [], interruption: { asked: signal, insisted: signal } }
    const seen = await sandbox.run(
      { ...run, env: workers.envOf({ MISTAKE: 'key-per-start' }) },
      { faults: [], holding: 0, stdio: ['ignore', 'ignore', 'ignore'], timeout: undefined, play },
    )
    const sent = seen?.evidence.exchanges.filter(({ operation }) => operation === 'deposit') ?? []
    const hosts = sent.map(({ request }) => request.headers.find(([name]) => name.toLowerCase() === 'host')?.[1])
    expect(addresses[1]).toMatch(/^127\.0\.0\.1:\d+$/)
    // The first one is held; the second one makes both deposits, and the first one makes the first of them again.
    expect(hosts).toEqual([addresses[0], addresses[1], addresses[1]])
    expect(seen).toMatchObject({ struck: [true], evidence: { ledger: { transfers: { length: 4 } } } })
  } finally {
    await sandbox.stop()
  }
})
