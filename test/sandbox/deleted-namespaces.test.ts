import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '../../src/index.ts'
import { ExchangeLog } from '../../src/traffic/exchange-log.ts'
import { Noted } from '../helpers/garbage.ts'
import { Partner } from '../helpers/partner.ts'

/** Has the log of every request noted, until the test is over. */
function notedLogs(): Noted<ExchangeLog> {
  const noted = new Noted<ExchangeLog>()
  const { open } = ExchangeLog.prototype
  ExchangeLog.prototype.open = function (this: ExchangeLog, ...given) {
    noted.note(this)
    return open.apply(this, given)
  }
  onTestFinished(() => {
    ExchangeLog.prototype.open = open
  })
  return noted
}

test('a connection that is kept alive does not keep the records of namespaces that were deleted', async () => {
  const logs = notedLogs()
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
  const before = logs.held()
  expect(before).toBeGreaterThanOrEqual(1)
  for (let i = 0; i < 5; i++) await useAndDelete()
  expect(logs.held()).toBeLessThanOrEqual(before)
  agent.destroy()
})
