import { describe, expect, test } from 'vitest'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FleetProcess, KeyedClient } from './processes.ts'

/** Takeovers of each kind. */
const TIMES = Number(process.env.FLEET_TAKEOVERS ?? '3')

/*
 * How long a client waits for a deposit that it asks for when the process ends that has
 * its namespace. `FLEET_TAKEOVERS=30 npx vitest run
 * test/fleet/takeover-times.long.test.ts` after a build prints the figures of docs/fleet.md.
 */
describe.skipIf(noPostgres)(`a takeover${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'after %s: a deposit is answered by the other process',
    async (signal) => {
      const server = await Postgres.start()
      let owner = await FleetProcess.start(server.url())
      let other = await FleetProcess.start(server.url())
      try {
        const client = new KeyedClient(() => [other.url], other.credentials, 'gus')
        await client.open()
        const waits: number[] = []
        for (let turn = 0; turn < TIMES; turn++) {
          await client.deposit(1_000)
          const began = performance.now()
          const ended = owner.end(signal)
          await client.deposit(1_000)
          waits.push(Math.round(performance.now() - began))
          await ended
          owner = other
          other = await FleetProcess.start(server.url())
        }
        await client.expectAllOnce(other.url)
        waits.sort((a, b) => a - b)
        const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]
        console.log({ signal, times: TIMES, p50_ms: at(0.5), p99_ms: at(0.99), longest_ms: waits.at(-1) })
        expect(waits).toHaveLength(TIMES)
      } finally {
        await Promise.all([owner.end(), other.end()])
        await server.stop()
      }
    },
    60_000 + TIMES * 20_000,
  )
})
