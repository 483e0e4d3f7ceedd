// test-matrix.mjs: runs every wrong client, and the correct ones in every scenario, one by one and several at once, and counts
// what the verdict gets wrong: `npm run test:matrix -- --times 20 --clients 8`. Each time has another seed. `--only <text>` does those
// whose name has it; `--at-once` is how many are under way together: fewer for the shell's, whose processes are many.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '1' },
    clients: { type: 'string', default: '8' },
    'at-once': { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
  },
})
const wholes = [values.times, values.clients, values['at-once']].map(Number)
if (!wholes.every((number) => Number.isSafeInteger(number) && number > 0)) {
  console.error('--times, --clients and --at-once are whole numbers above 0')
  process.exit(2)
}
const env = {
  ...process.env,
  MATRIX_TIMES: values.times,
  MATRIX_CLIENTS: values.clients,
  MATRIX_AT_ONCE: values['at-once'],
  MATRIX_ONLY: values.only,
}
const vitest = [
  'vitest',
  'run',
  'test/verdict/matrix.long.test.ts',
  '--reporter=verbose',
  '--disable-console-intercept',
]
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
process.exit(status ?? 1)
