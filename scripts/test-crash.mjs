// test-crash.mjs: kills sandboxes on one data directory at random moments, round after round, and checks that nothing is lost:
// `npm run test:crash -- --rounds 100 --seed 7`. The same rounds come again with the same seed, though not to the microsecond.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '100' }, seed: { type: 'string' } } })
const rounds = Number(values.rounds)
const seed = Number(values.seed ?? randomInt(2 ** 31))
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed) || seed < 0) {
  console.error('--rounds must be a whole number from 1, --seed one from 0')
  process.exit(2)
}

console.log(`${rounds} rounds, seed ${seed}`)
const vitest = ['vitest', 'run', 'test/reliability/crash.long.test.ts', '--reporter=verbose', '--bail=1']
const env = { ...process.env, CRASH_ROUNDS: String(rounds), CRASH_SEED: String(seed) }
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
console.log(status === 0 ? `${rounds} rounds passed, seed ${seed}` : `failed; again: --rounds ${rounds} --seed ${seed}`)
process.exit(status ?? 1)
