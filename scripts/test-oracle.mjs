// test-oracle.mjs: judges every client of test/oracle in every situation, and compares what it comes to with the table of outcomes:
// `npm run test:oracle -- --times 20`. Each time has another seed, counted from that of `--from`. `--only <pattern>` does
// those whose name fits it, such as `--only '^fresh-key: .*withdraw'`; `--at-once` is how
// many are under way together. `--runs <folder>` keeps what is known of every run, and judges anew, without running
// the client, what it finds there: after a change of the judge. The HTTP libraries are installed next to the clients, the first time: nobody else needs them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    'at-once': { type: 'string', default: '8' },
    runs: { type: 'string' },
  },
})
if (![values.times, values.from, values['at-once']].every((number) => /^[1-9]\d{0,5}$/.test(number))) {
  console.error('--times, --from and --at-once are whole numbers above 0')
  process.exit(2)
}
const root = fileURLToPath(new URL('..', import.meta.url))
const libraries = 'test/oracle/clients/libraries'
const env = {
  ...process.env,
  ORACLE_TIMES: values.times,
  ORACLE_FROM: values.from,
  ORACLE_ONLY: values.only,
  ORACLE_AT_ONCE: values['at-once'],
  ...(values.runs !== undefined && { ORACLE_RUNS: resolve(values.runs) }),
}

/** Ends this process, too, when the command fails. */
function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(`${root}/${libraries}/node_modules`)) run('npm', 'ci', '--prefix', libraries, '--no-audit', '--no-fund')
run(
  'npx',
  'vitest',
  'run',
  'test/oracle/clients.long.test.ts',
  'test/oracle/explorations.long.test.ts',
  '--reporter=verbose',
  '--disable-console-intercept',
)
