import type { IncomingMessage, Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ClientConnection, isReset } from './client-connection.ts'
import { forwardedHeader, NOT_TAKEN } from './forwarded-header.ts'
import type { Owner, OwnerOf, OwnerPlace } from './owner.ts'

/** A request for another protocol, and the bytes that came behind its head. */
export interface Upgrade {
  request: IncomingMessage
  socket: Socket
  head: Buffer
}

/** What passing an upgrade on needs of the process. */
export interface UpgradeDeps {
  ownerOf: OwnerOf
  /** The server of the application in this process, which may have become the owner. */
  application(): Server | undefined
  refuseUpgrade(socket: Duplex): void
  reset(socket: Socket): void
}

/** Connects a client that asks for another protocol with the owner; from the head on, all bytes pass as they are. */
export function passUpgrade(upgrade: Upgrade, owner: Owner, deps: UpgradeDeps, repeated = false): void {
  const { socket } = upgrade
  const upstream = connect({ host: owner.host, port: owner.port, noDelay: true, allowHalfOpen: true, keepAlive: true })
  const tryAnother = () => void passToAnother(upgrade, owner, deps, repeated)
  ClientConnection.of(socket).joined(upstream, owner)
  let state: 'connecting' | 'asked' | 'given up' = 'connecting'
  socket.on('error', () => socket.destroy())
  upstream.on('error', () => upstream.destroy())
  upstream.once('connect', () => {
    state = 'asked'
    upstream.write(Buffer.concat([headOf(upgrade.request, owner), upgrade.head]))
  })
  upstream.once('data', (first: Buffer) => {
    if (isNotTaken(first)) {
      state = 'given up'
      upstream.destroy()
      return tryAnother()
    }
    socket.write(first)
    socket.pipe(upstream).pipe(socket)
  })
  upstream.once('close', () => {
    if (state === 'connecting') tryAnother()
    else if (state === 'asked' && isReset(upstream)) deps.reset(socket)
    else if (state === 'asked') socket.destroySoon()
  })
  socket.once('close', () => {
    if (isReset(socket)) upstream.resetAndDestroy()
    else upstream.destroySoon()
  })
}

async function passToAnother(upgrade: Upgrade, failed: Owner, deps: UpgradeDeps, repeated: boolean): Promise<void> {
  let place: OwnerPlace = null
  try {
    if (!repeated) place = await deps.ownerOf(upgrade.request, failed)
  } catch {
    // The database that knows the owner does not answer.
  }
  const { request, socket, head } = upgrade
  const application = place === 'here' ? deps.application() : undefined
  if (application) application.emit('upgrade', request, socket, head)
  else if (place === null || place === 'here') deps.refuseUpgrade(socket)
  else passUpgrade(upgrade, place, deps, true)
}

function headOf(request: IncomingMessage, { secret }: Owner): Buffer {
  const { method, url, rawHeaders } = request
  const all = [...forwardedHeader(request, rawHeaders.length / 2, secret), ...rawHeaders]
  const lines = all.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}\r\n`] : []))
  return Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
}

function isNotTaken(answer: Buffer): boolean {
  const text = answer.toString('latin1')
  return text.startsWith('HTTP/1.1 421 ') && text.includes(NOT_TAKEN)
}
