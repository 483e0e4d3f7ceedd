import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { Credentials } from '../../src/index.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { atSomeMoment, ClientLoad } from '../reliability/harness/client-load.ts'
import { ClientMemory } from '../reliability/harness/client-memory.ts'
import { expectNothingLost } from '../reliability/harness/expect-nothing-lost.ts'
import type { HarnessDeps } from '../reliability/harness/harness-parts.ts'
import { SandboxProcess } from '../reliability/harness/sandbox-process.ts'
import { ownConnection } from './rows.ts'
import { SmallDisk } from './small-disk.ts'

/** Milliseconds that clients work before, and after, something happens. */
const LOAD = 3_000
/** Milliseconds that the database is away: as long as a restart, and as long as a failover. */
const [RESTART, FAILOVER] = [2_000, 60_000]
/** Milliseconds, on a busy machine: a write that is refused at the door waits for nothing. */
const AT_THE_DOOR = 1_000

const disk = noPostgres === undefined ? SmallDisk.mount(64) : undefined
let server: Postgres
let sandbox: SandboxProcess
let deps: HarnessDeps
const memory = new ClientMemory()
const random = new SeededRandom(7)

beforeAll(async () => {
  if (noPostgres !== undefined) return
  server = await Postgres.start(['fsync=on'])
  if (disk) {
    const client = new Client(server.url())
    await client.connect()
    await client.query(`create tablespace small location '${disk.path}'`)
    await client.query('create database kept tablespace small')
    await client.end()
  }
  sandbox = new SandboxProcess({ kept: false, flags: ['--database', server.createDatabase('kept')] })
  connect(await sandbox.start('0'), 0)
})
afterAll(async () => {
  await sandbox?.dispose()
  await server?.stop()
  disk?.unmount()
})

function connect(credentials: Credentials, round: number): void {
  const control = new ControlClient(credentials.base_url)
  const [rpcUrl = ''] = Object.values(credentials.rpc_urls)
  deps = { acme: partnerAt(credentials), control, rpcUrl, memory, random, round }
}

/** Lets clients work while something happens, and then finds all of their work. Clients come back under the same key. */
async function underLoad(round: number, happening: () => Promise<void>, persistent = true): Promise<void> {
  onTestFailed(() => console.error(sandbox.log))
  deps = { ...deps, round }
  const clients = new ClientLoad(deps, { persistent })
  await atSomeMoment(LOAD)
  await happening()
  if (persistent) await atSomeMoment(LOAD)
  await clients.stop()
  const answered = memory.acknowledged.filter((one) => one.round === round).length
  console.log(`round ${round}: ${answered} answered orders`)
  expect(answered).toBeGreaterThan(0)
}

/** New writes are refused at once with a time to come back; the same Anvil waits. */
async function expectRefused(): Promise<void> {
  await eventually(async () => {
    const begun = performance.now()
    const signal = AbortSignal.timeout(AT_THE_DOOR) // a write that came before anybody knew waits until the end
    const { status, headers } = await deps.acme.post('end_users', { external_id: 'at-the-door' }, { signal })
    expect([status, headers.get('retry-after')]).toEqual([503, '2'])
    expect(performance.now() - begun).toBeLessThan(AT_THE_DOOR)
  })
}

async function expectWrites(): Promise<void> {
  await eventually(async () => {
    expect((await deps.acme.post('end_users', { external_id: 'afterwards' })).status).toBeLessThan(300)
  })
}

const AWAY = [
  ['is killed', 1, () => server.kill(), RESTART],
  ['is stopped at once', 2, () => server.stopImmediately(), RESTART],
  ['is away for as long as a failover takes', 3, () => server.kill(), FAILOVER],
] as const

describe.skipIf(noPostgres !== undefined)(`outages under load${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  test.each(AWAY)('nothing is lost, doubled or started anew while the database %s', async (_, round, end, away) => {
    const anvils = sandbox.anvils()
    await underLoad(round, async () => {
      await end()
      await expectRefused()
      await atSomeMoment(away)
      expect(sandbox.anvils()).toEqual(anvils)
      await server.run()
      await expectWrites()
    })
    expect(sandbox.anvils()).toEqual(anvils)
    await expectNothingLost(deps)
  })

  test('nor when all of its connections are terminated, again and again', async () => {
    const anvils = sandbox.anvils()
    const client = await ownConnection(server.url())
    await underLoad(4, async () => {
      for (let nth = 0; nth < 10; nth++) {
        await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'yield-sandbox'`,
        )
        await atSomeMoment(300)
      }
    })
    expect(sandbox.anvils()).toEqual(anvils)
    await expectNothingLost(deps)
  })

  test.skipIf(disk === undefined)('nor while its disk is full', async () => {
    const anvils = sandbox.anvils()
    await underLoad(7, async () => {
      disk?.fill()
      await expectRefused()
      expect(sandbox.log).toContain('its disk is full')
      disk?.makeRoom()
      await expectWrites()
    })
    expect(sandbox.anvils()).toEqual(anvils)
    await expectNothingLost(deps)
  })

  test.each([5, 6])(
    'nor when the sandbox is killed and another process takes its namespaces over (%i)',
    async (round) => {
      await underLoad(round, () => sandbox.end('SIGKILL'), false)
      connect(await sandbox.start('0'), round)
      await expectNothingLost(deps)
    },
  )
})
