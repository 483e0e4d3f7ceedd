import { once } from 'node:events'
import { createServer } from 'node:net'
import { SeededRandom } from '../../support/random.ts'

/** Where a server can listen that only this machine reaches. */
export interface LoopbackAddress {
  host: string
  port: number
}

const USUAL = '127.0.0.1'

/**
 * A free port of an address nobody can guess, so that no web page finds what listens there: Linux has 16 million of them.
 * Elsewhere, and where the system has only the usual one, of that.
 */
export async function loopbackAddress(platform: string = process.platform): Promise<LoopbackAddress> {
  if (platform !== 'linux') return freePort(USUAL)
  const [second, third, fourth] = Buffer.from(SeededRandom.secret(), 'base64url')
  return freePort(`127.${second}.${third}.${1 + ((fourth ?? 0) % 254)}`).catch(() => freePort(USUAL))
}

async function freePort(host: string): Promise<LoopbackAddress> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return { host, port: address.port }
}
