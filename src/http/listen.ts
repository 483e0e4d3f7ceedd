import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { Origin } from '../domain/origin.ts'

/** Thousands may connect while the process is busy: Node would let 511 wait, and some of the others are reset. */
const BACKLOG = 65_535

/** What the operating system says of an address that the machine does not have. */
const NO_SUCH_ADDRESS = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** Where an application is to listen. */
export interface ListenOptions {
  host: string | undefined
  port: number
  /** An origin; undefined for the address listened on. */
  publicUrl: string | undefined
  /** Whatever is there for https; undefined for http. */
  tls: unknown
}

/** Where an application listens. */
export interface Listener {
  /** Where clients find it. */
  origin: Origin
  /** Ends connections and frees the port, on every address. */
  close(): Promise<void>
}

/**
 * Lets an application answer at a host. `localhost`, the default, leads to IPv4 or IPv6: there it answers on both, as far as the
 * machine has them. Throws the operating system's error about an address or a port; nothing listens then.
 */
export async function listen(app: FastifyInstance, { host, port, publicUrl, tls }: ListenOptions): Promise<Listener> {
  const scheme = tls ? 'https' : 'http'
  const both = host === undefined || host === 'localhost'
  await app.listen({ host: both ? '127.0.0.1' : host, port, backlog: BACKLOG })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port')
  const second = both ? await alsoOn('::1', app, address.port, port === 0) : undefined
  return {
    origin: publicUrl ? Origin.public(publicUrl) : Origin.listening({ scheme, host, port: address.port }),
    async close() {
      const freed = second && once(second, 'close')
      second?.close()
      await Promise.all([app.close(), freed])
    },
  }
}

/**
 * A second socket whose connections are the application's. Undefined when the machine has no such address, or when the
 * port, which nobody asked for, is another's there.
 */
async function alsoOn(host: string, app: FastifyInstance, port: number, anyPort: boolean): Promise<Server | undefined> {
  // As Node's own servers have it.
  const allowHalfOpen = !(app.server instanceof TlsServer)
  const server = createServer({ allowHalfOpen, noDelay: true }, (socket) => app.server.emit('connection', socket))
  try {
    server.listen({ host, port, backlog: BACKLOG, ipv6Only: true })
    await once(server, 'listening')
    return server
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (NO_SUCH_ADDRESS.has(code) || (anyPort && code === 'EADDRINUSE')) return undefined
    await app.close()
    throw error
  }
}
