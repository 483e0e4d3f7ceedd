// test-fuzz.mjs: sends hostile requests to every face of a sandbox and counts what breaks:
// `npm run test:fuzz -- --requests 1000000 --seed 7`. `--only 123,456` sends those again, one after another, and shows the
// answers; what had come before them is not repeated.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const options = { requests: { type: 'string', default: '100000' }, seed: { type: 'string' }, only: { type: 'string' } }
const { values } = parseArgs({ options })
const requests = Number(values.requests)
const seed = Number(values.seed ?? randomInt(2 ** 31))
if (!Number.isSafeInteger(requests) || requests < 1 || !Number.isSafeInteger(seed) || seed < 0) {
  console.error('--requests must be a whole number from 1, --seed one from 0')
  process.exit(2)
}

console.log(`${requests} requests, seed ${seed}`)
const vitest = ['vitest', 'run', 'test/fuzz/fuzz.test.ts', '--reporter=verbose', '--disable-console-intercept']
const env = { ...process.env, FUZZ_REQUESTS: String(requests), FUZZ_SEED: String(seed), FUZZ_ONLY: values.only ?? '' }
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
process.exit(status ?? 1)
