// test-fleet.mjs: three processes on one PostgreSQL, of which one after another is killed while clients deposit, for as long as it is
// told: `npm run test:fleet -- --minutes 30 --every 5 --namespaces 10 --seed 8`. At the end nothing may be lost or be there twice, and
// the audit of every namespace must find that all agrees. The same seed strikes the same processes in the same way.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const { values } = parseArgs({
  options: {
    minutes: { ...text, default: '10' },
    every: { ...text, default: '5' },
    namespaces: { ...text, default: '5' },
    seed: text,
  },
})
const [minutes, every, namespaces] = [values.minutes, values.every, values.namespaces].map(Number)
const seed = Number(values.seed ?? randomInt(2 ** 31))
if (
  !(minutes > 0) ||
  !(every > 0) ||
  !(Number.isSafeInteger(namespaces) && namespaces > 0) ||
  !Number.isSafeInteger(seed)
) {
  console.error('--minutes and --every must be above 0, --namespaces a whole number from 1, --seed one from 0')
  process.exit(2)
}
console.log(`--minutes ${minutes} --every ${every} --namespaces ${namespaces} --seed ${seed}`)
const env = {
  ...process.env,
  FLEET_MINUTES: String(minutes),
  FLEET_EVERY: String(every),
  FLEET_NAMESPACES: String(namespaces),
  FLEET_SEED: String(seed),
}
const vitest = ['vitest', 'run', 'test/fleet/chaos.long.test.ts', '--reporter=verbose', '--disable-console-intercept']
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
process.exit(status ?? 1)
