import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BodyTooLargeError, readBody } from '../../src/support/read-body.ts'

const LIMIT = 1_000_000

describe('reading a body', () => {
  const server = createServer((request, response) => serve(String(request.url), response))
  let url: string
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  it.each([0, 1, LIMIT])('gives all of %i bytes', async (size) => {
    expect(await readBody(await incoming(`${url}/${size}`), LIMIT)).toBe('é'.repeat(size / 2) + 'x'.repeat(size % 2))
    expect(await readBody((await fetch(`${url}/${size}`)).body, LIMIT)).toHaveLength(Math.ceil(size / 2))
    expect(await readBody(null, LIMIT)).toBe('')
  })

  it('cuts off what does not end, and hangs up', async () => {
    const message = await incoming(`${url}/endless`)
    await expect(readBody(message, LIMIT)).rejects.toThrow(new BodyTooLargeError(LIMIT))
    await expect.poll(() => message.destroyed).toBe(true)
    await expect(readBody((await fetch(`${url}/endless`)).body, LIMIT)).rejects.toThrow('more than 1000000 bytes')
  })

  it('throws when the sender goes away', async () => {
    await expect(readBody(await incoming(`${url}/broken`), LIMIT)).rejects.toThrow(/aborted/)
  })
})

function serve(path: string, response: ServerResponse): void {
  if (path === '/broken') response.write('x', () => response.destroy())
  else if (path !== '/endless') {
    const size = Number(path.slice(1))
    response.end('é'.repeat(size / 2) + 'x'.repeat(size % 2))
  } else {
    const more = () => void (response.destroyed || response.write('x'.repeat(64 * 1024), more))
    more()
  }
}

async function incoming(url: string): Promise<IncomingMessage> {
  const [message] = await once(get(url), 'response')
  return message as IncomingMessage
}
