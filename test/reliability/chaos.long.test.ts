import { afterAll, describe, expect, test } from 'vitest'
import { ChaosLife } from './chaos/chaos-life.ts'
import { type Episode, inWords, planEpisode } from './chaos/chaos-plan.ts'
import { ChaosReport } from './chaos/chaos-report.ts'

// `npm run test:chaos` sets them.
const SEED = Number(process.env.CHAOS_SEED ?? 8)
const MINUTES = Number(process.env.CHAOS_MINUTES ?? 0)
/** Of an embedded chain with a data directory, and of a fork without one, whose nodes are renewed. */
const EPISODES = (process.env.CHAOS_EPISODES ?? '2,14').split(',').map(Number)

/** Characters of what was found instead of what is right. */
const MOST_FOUND = 2_000

const report = new ChaosReport()
let life: ChaosLife | undefined
let lived: number | undefined
const began = performance.now()
const minutes = () => (performance.now() - began) / 60_000

afterAll(async () => {
  await life?.dispose()
  if (MINUTES > 0) console.log(report.lines(minutes()).join('\n'))
})

/** Lives through an episode, in a new sandbox if the last one is of another life or has not come through. */
async function liveThrough(episode: Episode): Promise<void> {
  try {
    if (lived !== episode.life.number) {
      await endLife()
      life = await ChaosLife.begin(episode.life, SEED, report)
      lived = episode.life.number
    }
    await life?.live(episode)
    const { sandbox, anvil } = life?.process.memory() ?? {}
    if (MINUTES > 0) console.log(`after ${minutes().toFixed(1)} minutes: sandbox ${sandbox} MiB, Anvil ${anvil} MiB`)
  } catch (error) {
    const again = `npm run test:chaos -- --seed ${SEED} --episode ${episode.number}`
    const { actual } = error as { actual?: unknown }
    const found = actual === undefined ? '' : JSON.stringify(actual, undefined, 1).slice(0, MOST_FOUND)
    const reasons = [inWords(episode), `again: ${again}`, life?.process.lastWords ?? '', String(error), found]
    await life?.dispose()
    life = lived = undefined
    throw new Error(reasons.join('\n'), { cause: error })
  }
}

async function endLife(): Promise<void> {
  const ended = life
  life = undefined
  try {
    await ended?.expectGoodEnd()
  } finally {
    await ended?.dispose()
  }
}

describe(`seed ${SEED}`, () => {
  if (MINUTES > 0) {
    test(`${MINUTES} minutes`, { timeout: (MINUTES + 5) * 60_000 }, async () => {
      let failures = 0
      for (let number = 1; minutes() < MINUTES; number++) {
        const episode = planEpisode(SEED, number)
        console.log(inWords(episode))
        await liveThrough(episode).catch((error: Error) => {
          console.log(`FAILED: ${error.message}`)
          failures++
        })
      }
      expect(failures, 'episodes that failed').toBe(0)
    })
  } else {
    const episodes = EPISODES.map((number) => planEpisode(SEED, number))
    test.each(episodes.map((episode) => [inWords(episode), episode] as const))('%s', (_, episode) =>
      liveThrough(episode),
    )
  }

  test('in the end, every transaction is where it was', endLife)
})
