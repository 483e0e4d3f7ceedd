// test-fleet.mjs: processes on one PostgreSQL, of which one after another is killed, ended or held while clients move money and look at
// it. At the end nothing may be lost or be there twice, everything that a client saw must have an explanation (test/history), and the
// audit of every namespace must find that all agrees: `npm run test:fleet -- --minutes 30 --every 5 --namespaces 300 --clients 64`.
//
// `--judges`: explore and certify run in namespaces of the fleet meanwhile, and come to the verdict of one process, or to none.
// `--rounds 1000`: instead, so many rounds of two processes of the database layer alone, which compete for a namespace: the owner stands
// still, also between a check and a write, is killed, has a wrong clock or loses its connections.
//
// The same seed strikes the same processes in the same way.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const { values } = parseArgs({
  options: {
    minutes: { ...text, default: '10' },
    every: { ...text, default: '5' },
    namespaces: { ...text, default: '5' },
    clients: text,
    rounds: text,
    judges: { type: 'boolean', default: false },
    seed: text,
  },
})
const [minutes, every, namespaces] = [values.minutes, values.every, values.namespaces].map(Number)
const clients = Number(values.clients ?? 2 * namespaces)
const rounds = Number(values.rounds ?? 1)
const seed = Number(values.seed ?? randomInt(2 ** 31))
const isCount = (number) => Number.isSafeInteger(number) && number > 0
if (!(minutes > 0) || !(every > 0) || ![namespaces, clients, rounds].every(isCount) || !Number.isSafeInteger(seed)) {
  console.error(
    '--minutes and --every must be above 0, --namespaces, --clients and --rounds whole numbers from 1, --seed one from 0',
  )
  process.exit(2)
}
const inRounds = values.rounds !== undefined
const given = inRounds
  ? { rounds, seed }
  : { minutes, every, namespaces, clients, ...(values.judges && { judges: 1 }), seed }
const named = Object.entries(given)
console.log(named.map(([name, value]) => (name === 'judges' ? '--judges' : `--${name} ${value}`)).join(' '))
const env = {
  ...process.env,
  ...Object.fromEntries(named.map(([name, value]) => [`FLEET_${name.toUpperCase()}`, `${value}`])),
}
const file = inRounds ? 'test/database/histories.long.test.ts' : 'test/fleet/chaos.long.test.ts'
const vitest = ['vitest', 'run', file, '--reporter=verbose', '--disable-console-intercept']
const { status } = spawnSync('npx', vitest, { cwd: new URL('..', import.meta.url), env, stdio: 'inherit' })
process.exit(status ?? 1)
