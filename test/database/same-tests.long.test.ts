import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noPostgres, Postgres } from '../helpers/postgres.ts'

/** Tests of what a client sees, of kept state and of its loss: their sandboxes are started by helpers that `onDatabase()` gives a database. */
const TESTS = [
  'test/specification/endpoint-',
  'test/specification/idempotency-key',
  'test/specification/pagination',
  'test/specification/assumptions-withdraw-all',
  'test/sandbox/clock-set-back',
  'test/sandbox/deleted-namespaces',
  'test/reliability/money.test',
  'test/reliability/concurrency',
  'test/reliability/reset',
  'test/reliability/disconnects',
  'test/reliability/chain-outage',
  'test/reliability/recovery',
  'test/reliability/namespace-crash.test',
  'test/reliability/namespaces-killed',
]

let server: Postgres
beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start(['max_connections=300'])
})
afterAll(() => server?.stop())

test.skipIf(noPostgres !== undefined)(
  `the tests of kept state, money and the specification pass on a database${noPostgres ? ` (${noPostgres})` : ''}`,
  async () => {
    const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
    const run = spawn(process.execPath, [vitest, 'run', ...TESTS, '--exclude', '**/!(recovery).long.test.ts'], {
      env: { ...process.env, TEST_ON_DATABASE: server.url() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => (output += chunk))
    const [code] = await once(run, 'close')
    expect(code, output).toBe(0)
  },
)
