import { IncomingMessage } from 'node:http'

/**
 * A request that Node hands over as an upgrade only if it asks for a WebSocket below `/rpc/` (or is CONNECT, as always): with a listener
 * for upgrades, Node would take every request for one that names any protocol, such as the `Upgrade: h2c` of Java's client, and leave
 * its body unread.
 */
export class UpgradableMessage extends IncomingMessage {
  declare wanted: boolean | null

  /** The parser sets it before the headers are known, and reads it when they are. */
  get upgrade(): boolean {
    if (!this.wanted) return false
    const { method, url = '', headers } = this
    return (
      method === 'CONNECT' ||
      (method === 'GET' && url.startsWith('/rpc/') && headers.upgrade?.toLowerCase() === 'websocket')
    )
  }

  set upgrade(value: boolean | null) {
    this.wanted = value
  }
}
