import { afterAll, describe, expect, test } from 'vitest'
import type { TrialOutcome } from '../../src/explore/exploration.ts'
import { ExplorationSandbox } from '../../src/explore/run/exploration-sandbox.ts'
import { Stage } from '../../src/explore/run/play-command.ts'
import { playTwins } from '../../src/explore/twins/play-twins.ts'
import { isAlive } from '../../src/support/is-alive.ts'
import { abortController } from '../../src/support/waiting.ts'
import { everywhere, staying, TwinWorkers, WORKER } from './twin-workers.ts'

const workers = new TwinWorkers()
afterAll(() => workers[Symbol.dispose]())

const HERE = 'deposit#1@alice twin-while-held-on-request'
const TRANSFERS = ['deposit#1', 'deposit#2', 'withdraw#1']
const AT_ONCE = [1, 2, 3, 4, 5].map((n) => `twins-at-once-${n}`)
/** A portfolio is never under way. */
const AT_PORTFOLIO = ['twin-while-held-on-request', 'twin-while-unanswered']
const portfolio = (outcome: TrialOutcome) => everywhere(['create_portfolio#1'], outcome, AT_PORTFOLIO)
const atOnce = (outcome: TrialOutcome) => everywhere(['deposit#1'], outcome, AT_ONCE)

const SURVIVES = { ...portfolio('survived'), ...everywhere(TRANSFERS, 'survived'), ...atOnce('survived') }

describe('a worker that is run twice at once', () => {
  test.each<[string, Record<string, string>]>([
    ['stores its keys before it sends', {}],
    ['refuses to start while another one runs', { MISTAKE: 'key-per-start', LOCK: 'refuse' }],
    ['waits until no other one runs', { MISTAKE: 'key-per-start', LOCK: 'wait' }],
    ['looks again and again until the other one is done', { MISTAKE: 'key-per-start', LOCK: 'claim' }],
  ])('survives everywhere if it %s', async (_, variant) => {
    expect(await workers.outcomes(variant)).toEqual(SURVIVES)
  })

  test('pays twice wherever it is held at a transfer, with a key of each process', async () => {
    const found = await workers.outcomes({ MISTAKE: 'key-per-start' })
    const held = Object.fromEntries(Object.entries(found).filter(([id]) => !id.includes('at-once')))
    expect(held).toEqual({ ...portfolio('survived'), ...everywhere(TRANSFERS, 'paid_twice') })
  })

  test('pays twice for what had no key when the second one read its orders at its start', async () => {
    expect(await workers.outcomes({ MISTAKE: 'read-at-start' })).toEqual({
      ...portfolio('paid_twice'),
      ...everywhere(['deposit#1', 'deposit#2'], 'paid_twice'),
      // By then every order has a key.
      ...everywhere(['withdraw#1'], 'survived'),
      // Both are held before the first key is made: here nothing is left to chance.
      ...atOnce('paid_twice'),
    })
  })

  test('survives if the second one refuses to start, which is right, and is said', async () => {
    const { results } = await workers.explore({ MISTAKE: 'key-per-start', LOCK: 'refuse' }, { trial: HERE })
    expect(results).toMatchObject([
      { outcome: 'survived', end: '0', sentences: ['the same money', 'the other process ended with 3'] },
    ])
  })

  test('does not start the second one where the first never comes to the point', async () => {
    const outcomes = await workers.outcomes({}, { trial: 'deposit#7@alice twin-while-held-on-request' })
    expect(Object.values(outcomes)).toEqual(['not_exercised'])
  })

  test('is refused if it does its work anew each time', async () => {
    await expect(workers.explore({ MISTAKE: 'all-anew' })).rejects.toThrow(
      /the command was started once more: it moved money 3 times more\. With --twins it is started twice, .* give the command of your worker/,
    )
  })
})

describe('a second process that would never end', () => {
  test.each([
    ['stay', 'SIGTERM'],
    ['stay-deaf', 'SIGKILL'],
  ])('is ended after the first one: %s, %s', async (LOCK, signal) => {
    const env = workers.envOf({ LOCK })
    const { results } = await workers.explore({}, { env, trial: HERE })
    expect(results).toMatchObject([
      { outcome: 'survived', sentences: ['the same money', `the other process ended with ${signal}`] },
    ])
    const pids = staying(env.STATE_DIR)
    expect(pids).toHaveLength(1)
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('is ended when explore is interrupted', async () => {
    const env = workers.envOf({ LOCK: 'stay-deaf' })
    const [asked, insisted] = [abortController(), abortController()]
    const interruption = { asked: asked.signal, insisted: insisted.signal }
    const exploring = workers.explore({}, { trial: HERE, env, interruption })
    await expect.poll(() => staying(env.STATE_DIR)).toHaveLength(1)
    asked.abort('SIGINT')
    expect((await exploring).untried).toMatchObject({ trials: [{ id: HERE }] })
    expect(staying(env.STATE_DIR).filter(isAlive)).toEqual([])
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
