// test-chaos.mjs: lets one thing after another go wrong under load, for as long as it is told, and looks after each episode
// whether anything is lost: `npm run test:chaos -- --minutes 10 --seed 8`. The same seed does the same in the same order,
// though not to the microsecond; `--episode 17` does only that one, in a fresh sandbox.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const { values } = parseArgs({ options: { minutes: { ...text, default: '10' }, seed: text, episode: text } })
const minutes = Number(values.minutes)
const seed = Number(values.seed ?? randomInt(2 ** 31))
const episode = values.episode === undefined ? undefined : Number(values.episode)
const whole = (number, from) => Number.isSafeInteger(number) && number >= from
if (!(minutes > 0) || !whole(seed, 0) || (episode !== undefined && !whole(episode, 1))) {
  console.error('--minutes must be above 0, --seed a whole number from 0, --episode one from 1')
  process.exit(2)
}

const what = episode === undefined ? `--minutes ${minutes} --seed ${seed}` : `--seed ${seed} --episode ${episode}`
console.log(what)
const vitest = [
  'vitest',
  'run',
  'test/reliability/chaos.long.test.ts',
  '--reporter=verbose',
  '--disable-console-intercept',
]
const length = episode === undefined ? { CHAOS_MINUTES: String(minutes) } : { CHAOS_EPISODES: String(episode) }
const env = { ...process.env, CHAOS_SEED: String(seed), ...length }
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
console.log(status === 0 ? `passed: ${what}` : `failed; again: npm run test:chaos -- ${what}`)
process.exit(status ?? 1)
