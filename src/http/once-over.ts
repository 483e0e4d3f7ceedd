import type { IncomingMessage, ServerResponse } from 'node:http'

/** Calls back once: when the response is out, or as soon as its connection has ended. */
export function onceOver({ socket }: IncomingMessage, response: ServerResponse, callback: () => void): void {
  if (socket.destroyed) {
    callback()
    return
  }
  const over = () => {
    response.off('close', over)
    socket.off('close', over)
    callback()
  }
  response.once('close', over)
  if (response.socket) return
  // A pipelined response waits for its turn, and hears nothing of the connection until then.
  socket.setMaxListeners(0)
  socket.once('close', over)
}
