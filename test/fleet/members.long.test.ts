import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/index.ts'
import { FleetMember } from '../../src/sandbox/fleet-member.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'

const OPTIONS = { port: 0, fleetPort: 0, publicUrl: 'http://127.0.0.1:9', confirmationDelay: 0 }

describe.skipIf(noPostgres)(
  `several processes on one database, at length${noPostgres ? ` (${noPostgres})` : ''}`,
  () => {
    let server: Postgres
    beforeAll(async () => {
      server = await Postgres.start()
    })
    afterAll(() => server?.stop())

    test('a handle of any process works as that of any other', async () => {
      const options = { ...OPTIONS, database: server.createDatabase('handles') }
      const first = await startSandbox(options)
      const second = await startSandbox(options)
      const made = await second.namespaces.create({ name: 'one' })
      expect((await first.namespaces.list()).map(({ name }) => name)).toContain('one')
      expect((await made.report()).unmet).toEqual(['No request of the client came.'])
      await second.stop()
      const elsewhere = (await first.namespaces.list()).find(({ name }) => name === 'one')
      expect(elsewhere).toMatchObject({ ready: true })
      await first.stop()
    })

    test('a seed that was asked for by one that made nothing does not count when it is gone', async () => {
      const database = server.createDatabase('never')
      const start = (seed: number) => FleetMember.start({ ...OPTIONS, database, seed })
      const first = await start(8)
      await expect(start(7)).rejects.toThrow('it was made with seed 8, not 7')
      await first.stop()
      const second = await start(7)
      const credentials = await fetch(`${second.listeningUrl}/_sandbox/credentials`)
      expect(await credentials.json()).toMatchObject({ seed: 7 })
      await second.stop()
      await expect(start(8)).rejects.toThrow('it was made with seed 7, not 8')
    })
  },
)
