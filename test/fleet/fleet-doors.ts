import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** What stands before the processes of a fleet: a port whose connections are passed on to each in turn, to the next where nothing listens. */
export class FleetDoors {
  readonly url: string
  readonly #server: Server
  readonly #urls: () => readonly string[]
  readonly #sockets = new Set<Socket>()
  #turn = 0

  private constructor(server: Server, urls: () => readonly string[]) {
    this.#server = server
    this.#urls = urls
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (client) => void this.#join(client))
  }

  static async open(urls: () => readonly string[]): Promise<FleetDoors> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FleetDoors(server, urls)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async #join(client: Socket): Promise<void> {
    this.#keep(client)
    for (const url of this.#inTurn()) {
      const upstream = connect(Number(new URL(url).port), '127.0.0.1')
      this.#keep(upstream)
      const reached = await Promise.race([
        once(upstream, 'connect').then(() => true),
        once(upstream, 'close').then(() => false),
      ]).catch(() => false)
      if (!reached) continue
      upstream.on('close', () => client.destroy())
      client.on('close', () => upstream.destroy())
      client.pipe(upstream)
      upstream.pipe(client)
      return
    }
    client.destroy()
  }

  #inTurn(): string[] {
    const urls = this.#urls()
    this.#turn += 1
    return urls.map((_, at) => urls[(at + this.#turn) % urls.length] ?? '')
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#sockets.delete(socket))
  }
}
