// test-certify.mjs: certifies the reference client in TypeScript, through every scenario and every fault at every place, for the seeds
// 1 to so many: `npm run test:certify -- --times 20`. It must pass each time. `--at-once` is how many seeds are under way together,
// and `--jobs` how many runs of each.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    'at-once': { type: 'string', default: '2' },
  },
})
if (!Object.values(values).every((number) => /^[1-9]\d{0,5}$/.test(number))) {
  console.error('--times, --jobs and --at-once are whole numbers above 0')
  process.exit(2)
}
const env = {
  ...process.env,
  CERTIFY_TIMES: values.times,
  CERTIFY_JOBS: values.jobs,
  CERTIFY_AT_ONCE: values['at-once'],
}
const vitest = [
  'vitest',
  'run',
  'test/certify/right-client.long.test.ts',
  '--reporter=verbose',
  '--disable-console-intercept',
]
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
process.exit(status ?? 1)
