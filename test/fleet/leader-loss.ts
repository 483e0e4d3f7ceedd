import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FleetProcess } from './processes.ts'

/** What these tests start on a PostgreSQL of their own: a process, or a leader and one that stands by. They end with the test. */
interface Fleet {
  start(): Promise<FleetProcess>
  two(): Promise<[leader: FleetProcess, standby: FleetProcess]>
}

export function fleetThatLosesItsLeader(tests: (fleet: Fleet) => void): void {
  describe.skipIf(noPostgres)(`a fleet loses its leader${noPostgres ? ` (${noPostgres})` : ''}`, () => {
    let server: Postgres
    beforeAll(async () => {
      server = await Postgres.start()
    })
    afterAll(() => server?.stop())

    const start = async () => {
      const process = await FleetProcess.start(server.url())
      onTestFinished(() => void process.end())
      return process
    }
    tests({
      start,
      two: async () => {
        const leader = await start()
        return [leader, await start()]
      },
    })
  })
}

export async function audit({ url }: FleetProcess): Promise<unknown> {
  return (await fetch(`${url}/_sandbox/audit`)).json()
}
