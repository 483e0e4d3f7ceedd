import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { queryObjects } from 'node:v8'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/index.ts'
import { ExchangeLog } from '../../src/traffic/exchange-log.ts'
import { Partner } from '../helpers/partner.ts'

test('a connection that is kept alive does not keep the records of namespaces that were deleted', async () => {
  await using sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let port: number | undefined
  const useAndDelete = async () => {
    await using mine = await sandbox.namespaces.create()
    const asked = request(new URL('/v1/partner/pools', mine.baseUrl), {
      agent,
      headers: { authorization: `Bearer ${await new Partner(mine).idpToken()}` },
    }).end()
    const [response]: IncomingMessage[] = await once(asked, 'response')
    expect(response!.statusCode).toBe(200)
    port ??= response!.socket.localPort
    expect(response!.socket.localPort, 'one connection').toBe(port)
    await text(response!)
  }
  await useAndDelete()
  const before = queryObjects(ExchangeLog, { format: 'count' })
  for (let i = 0; i < 5; i++) await useAndDelete()
  expect(queryObjects(ExchangeLog, { format: 'count' })).toBeLessThanOrEqual(before)
  agent.destroy()
})
