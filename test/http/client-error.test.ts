import { createServer } from 'node:http'
import type { AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { Ids } from '../../src/domain/ids.ts'
import type { ServiceSettings } from '../../src/domain/service-settings.ts'
import { answerClientError } from '../../src/http/client-error.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { expectRefusal, sendBytes } from './raw-http.ts'

// The sandbox waits a minute; here a server of the same handler that waits less.
test.each([
  ['a head that does not end', 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
  ['a body that does not come', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n{'],
])('%s is answered 408', async (_what, bytes) => {
  const settings = { name: 'Service', error_body: 'problem' } as ServiceSettings
  const ids = new Ids({ clock: new SandboxClock(), random: new SeededRandom(7) })
  const timeouts = { requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 20 }
  const server = createServer(timeouts, (request) => request.resume())
  server.on('clientError', (error, socket) =>
    answerClientError(error, socket as ReturnType<typeof connect>, ids, settings),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const answer = await sendBytes(`http://127.0.0.1:${port}`, bytes)
    expectRefusal(answer, { status: 408, code: 'request_timeout', param: 'request' })
    expect(answer.headers.connection).toBe('close')
  } finally {
    server.close()
  }
})
