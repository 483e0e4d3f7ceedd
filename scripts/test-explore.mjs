// test-explore.mjs: explores the reference clients, every fault at every place, so many times, and the wrong clients whose mistake moves
// money: `npm run test:explore -- --times 20`. Each time has another seed. `--only <text>` does the clients whose name has it; `--jobs`
// is how many runs are under way together.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' },
  },
})
if (![values.times, values.jobs].every((number) => /^[1-9]\d{0,5}$/.test(number))) {
  console.error('--times and --jobs are whole numbers above 0')
  process.exit(2)
}
const env = { ...process.env, EXPLORE_TIMES: values.times, EXPLORE_ONLY: values.only, EXPLORE_JOBS: values.jobs }
const vitest = [
  'vitest',
  'run',
  'test/explore/clients.long.test.ts',
  '--reporter=verbose',
  '--disable-console-intercept',
]
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
process.exit(status ?? 1)
