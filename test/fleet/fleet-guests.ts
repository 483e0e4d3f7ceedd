import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Credentials, GuestWish } from '../../src/control/contract.ts'
import type { SandboxRecord } from '../../src/running/sandbox-record.ts'

/** Milliseconds for which a request is repeated while the fleet does not answer: longer than a takeover. */
const PATIENCE_MS = 20_000

/** Stands for a sandbox that `exec` and `explore` can run within, and makes each of its guests a namespace of a fleet. */
export class FleetGuests {
  /** What a command joins. */
  readonly record: SandboxRecord
  readonly #servers = new Set<Server>()
  readonly #fleet: string

  private constructor(fleet: string, url: string) {
    this.#fleet = fleet
    const usual = { instance: '', version: '', started_at: '', folder: '', options: '', flags: [] }
    this.record = { ...usual, url, pid: process.pid }
  }

  static async at(fleet: string): Promise<FleetGuests> {
    const server = createServer()
    const guests = new FleetGuests(fleet, await listening(server))
    guests.#serve(server, async ({ method, url }, body) => {
      if (method === 'GET' && url === '/_sandbox/namespaces') return { status: 200, text: '[{"requests":0}]' }
      return { status: 201, text: JSON.stringify(await guests.#open(JSON.parse(body))) }
    })
    return guests
  }

  close(): void {
    for (const server of this.#servers) server.close().closeAllConnections()
  }

  async #open({ clock, seed }: GuestWish): Promise<object> {
    const made = { confirmation_delay: 0, ...(clock !== undefined && { clock }), ...(seed !== undefined && { seed }) }
    const { text } = await this.#ask('POST', '/_sandbox/namespaces', JSON.stringify(made))
    const credentials = JSON.parse(text) as Credentials
    const own = `/_sandbox/namespaces/${credentials.namespace}`
    const server = createServer()
    const url = await listening(server)
    this.#serve(server, async ({ method = '', url: path = '' }, body) => {
      if (path === '/_sandbox/stop') {
        server.close()
        await this.#ask('DELETE', own)
        return { status: 202, text: '{}' }
      }
      const isOne = path.startsWith('/_sandbox/namespaces')
      const wish =
        method === 'POST' && path === '/_sandbox/namespaces' ? JSON.stringify({ ...made, ...JSON.parse(body) }) : body
      const answer = await this.#ask(method, isOne ? path : path.replace('/_sandbox', own), wish)
      if (!path.endsWith('/conclusion') || answer.status !== 200) return answer
      // The others are of the fleet's other clients.
      return { ...answer, text: JSON.stringify({ ...JSON.parse(answer.text), other_namespaces: 0 }) }
    })
    return {
      credentials: { ...credentials, control_url: `${url}/_sandbox` },
      ...{ owns_markets: true, delays_confirmation: false },
    }
  }

  #serve(server: Server, answer: (request: IncomingMessage, body: string) => Promise<FleetAnswer>): void {
    this.#servers.add(server)
    server.on('close', () => this.#servers.delete(server))
    server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
      let body = ''
      for await (const piece of request) body += piece
      const { status, text } = await answer(request, body).catch((error: unknown) => {
        return { status: 502, text: JSON.stringify({ code: 'fleet_away', detail: String(error) }) }
      })
      response.writeHead(status, { 'content-type': 'application/json' }).end(status === 204 ? undefined : text)
    })
  }

  /** Repeats what was refused before it was done, and, unless it must not be done twice, what was not answered. */
  async #ask(method: string, path: string, body = ''): Promise<FleetAnswer> {
    const until = performance.now() + PATIENCE_MS
    const mayRepeat = !(method === 'POST' && /\/(?:faults|scenarios?)\b/.test(path))
    for (;;) {
      try {
        const headers = { 'content-type': 'application/json', 'x-sandbox-runner': '1' }
        const signal = AbortSignal.timeout(PATIENCE_MS)
        const answer = await fetch(`${this.#fleet}${path}`, { method, headers, signal, ...(body !== '' && { body }) })
        const text = await answer.text()
        if (method === 'DELETE' && answer.status === 404) return { status: 204, text: '' } // an earlier try had done it
        if (answer.status !== 503 || performance.now() > until) return { status: answer.status, text }
      } catch (error) {
        if (!mayRepeat || performance.now() > until) throw error
      }
      await sleep(250)
    }
  }
}

interface FleetAnswer {
  status: number
  text: string
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
