// test-fuzz.mjs: sends hostile requests to every face of a sandbox and counts what breaks:
// `npm run test:fuzz -- --requests 1000000 --seed 7`. `--only 123,456` sends those again, one after another, and shows the
// answers; what had come before them is not repeated. An answer may take 5 s, or so many as `--patience` says, for a machine
// that is busy with other things; that of a batch, of many blocks, of an audit
// and of a transfer as long as a batch may take.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const options = {
  requests: { ...text, default: '100000' },
  seed: text,
  only: text,
  patience: { ...text, default: '5' },
}
const { values } = parseArgs({ options })
const requests = Number(values.requests)
const seed = Number(values.seed ?? randomInt(2 ** 31))
const patience = Number(values.patience)
const whole = (number, from) => Number.isSafeInteger(number) && number >= from
if (!whole(requests, 1) || !whole(seed, 0) || !whole(patience, 1)) {
  console.error('--requests and --patience must be whole numbers from 1, --seed one from 0')
  process.exit(2)
}

console.log(`${requests} requests, seed ${seed}`)
const vitest = ['vitest', 'run', 'test/fuzz/fuzz.long.test.ts', '--reporter=verbose', '--disable-console-intercept']
const given = { FUZZ_REQUESTS: `${requests}`, FUZZ_SEED: `${seed}`, FUZZ_PATIENCE: `${patience}` }
const env = { ...process.env, ...given, FUZZ_ONLY: values.only ?? '' }
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
process.exit(status ?? 1)
