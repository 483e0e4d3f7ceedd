// test-crashes.mjs: kills the workers of examples/workers and the wrong ones of test/crash at every request, runs two of them at once, and
// holds the outcomes against what is expected, so many times: `npm run test:crashes -- --times 20`. Each time has another seed.
// `--only <text>` does the tests whose name has it: a language, or a mistake.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { times: { type: 'string', default: '1' }, only: { type: 'string', default: '' } },
})
if (!/^[1-9]\d{0,5}$/.test(values.times)) {
  console.error('--times is a whole number above 0')
  process.exit(2)
}
const env = { ...process.env, CRASH_TIMES: values.times }
const named = values.only === '' ? [] : ['--testNamePattern', values.only.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')]
const vitest = ['vitest', 'run', 'test/crash/', '--reporter=verbose', ...named]
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
process.exit(status ?? 1)
