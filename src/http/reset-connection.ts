import type { Server, Socket } from 'node:net'

/** By a TLS socket, the TCP socket it runs over: that alone can be reset. */
const carriers = new WeakMap<Socket, Socket>()

/** Notes which TCP socket each TLS socket of a server runs over. For a server without TLS, it notes nothing. */
export function noteCarriers(server: Server): void {
  const accepted = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    accepted.set(peer, socket)
    socket.once('close', () => {
      if (accepted.get(peer) === socket) accepted.delete(peer)
    })
  })
  server.on('secureConnection', (socket: Socket) => {
    const carrier = accepted.get(peerOf(socket))
    if (carrier) carriers.set(socket, carrier)
  })
}

/** Ends a connection with a TCP reset. */
export function resetConnection(socket: Socket): void {
  const carrier = carriers.get(socket)
  ;(carrier ?? socket).resetAndDestroy()
  if (carrier) socket.destroy()
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
