import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Credentials } from '../../src/control/contract.ts'
import { FleetMember } from '../../src/sandbox/fleet-member.ts'
import { ownConnection } from '../database/rows.ts'
import { eventually } from '../helpers/eventually.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { KeyedClient } from './processes.ts'

/** How often the state is lost. */
const TIMES = Number(process.env.FLEET_LOSSES ?? '8')
const PUBLIC = 'http://127.0.0.1:9'
const RPC = '/rpc/31337'

describe.skipIf(noPostgres)(
  `a process that loses its state in the middle of work${noPostgres ? ` (${noPostgres})` : ''}`,
  () => {
    let server: Postgres
    beforeAll(async () => {
      server = await Postgres.start()
    })
    afterAll(() => server?.stop())

    // Without a limit of time: what does not end holds up the test.
    test('ends what it had each time, goes on with what is stored, and stops', async () => {
      const member = await FleetMember.start({
        port: 0,
        fleetPort: 0,
        publicUrl: PUBLIC,
        confirmationDelay: 0,
        database: server.url(),
      })
      const url = member.listeningUrl
      const client = await ownConnection(server.url())
      const credentials = (await call(url, '/_sandbox/credentials')) as Credentials
      const clients = ['ann', 'ben', 'cat'].map((user) => new KeyedClient(() => [url], credentials, user))
      await Promise.all(clients.map((one) => one.open()))
      const ending = new AbortController()
      const work = [...clients.map((one) => deposits(one, ending.signal)), ...workAt(url, ending.signal)]
      for (let time = 0; time < TIMES; time++) {
        const before = clients[0]!.done.size
        await eventually(() => expect(clients[0]!.done.size).toBeGreaterThan(before + 25))
        // Nobody else takes it: the process finds out by its lease, whatever is under way.
        await client.query(`update yield_sandbox.process set dead = true where not dead`)
      }
      const before = clients[0]!.done.size
      await eventually(() => expect(clients[0]!.done.size).toBeGreaterThan(before))
      ending.abort()
      await Promise.all(work)
      for (const one of clients) await one.expectAllOnce(url)
      await member.stop()
    })
  },
)

async function deposits(client: KeyedClient, ending: AbortSignal): Promise<void> {
  for (let amount = 1_000; !ending.aborted; amount++) await client.deposit(amount)
}

/** Requests to the chain, held answers, faults that break pools and are taken away, resets of a namespace, and a subscription. */
function workAt(url: string, ending: AbortSignal): Promise<void>[] {
  const again = async (work: () => Promise<unknown>) => {
    while (!ending.aborted) {
      await work().catch(() => undefined)
      await sleep(20)
    }
  }
  const jsonRpc = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })
  const socket = new WebSocket(`${url.replace('http', 'ws')}${RPC}`)
  socket.on('error', () => undefined)
  socket.on('open', () => socket.send(JSON.stringify(jsonRpc('eth_subscribe', 'newHeads'))))
  const name = 'other'
  const other = `/_sandbox/namespaces/${name}`
  return [
    again(() =>
      call(url, `/rpc/${name}/31337`, jsonRpc('anvil_setNonce', '0x00000000000000000000000000000000000000aa', '0x1')),
    ),
    again(() => call(url, RPC, jsonRpc('eth_blockNumber'))),
    again(async () => {
      await call(url, '/_sandbox/namespaces', { name }).catch(() => undefined)
      await call(url, `${other}/reset`, {})
    }),
    again(async () => {
      await call(url, `${other}/faults`, { kind: 'pool_paused' })
      await call(url, `${other}/faults`, undefined, 'DELETE')
    }),
    again(async () => {
      await call(url, `${other}/faults`, { kind: 'hang', operation: 'list_pools' })
      await call(url, '/v1/partner/pools')
    }),
    new Promise<void>((resolve) => {
      socket.on('close', () => resolve())
      ending.addEventListener('abort', () => socket.terminate())
    }),
  ]
}

async function call(url: string, path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<unknown> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5_000),
  })
  return answer.json()
}
