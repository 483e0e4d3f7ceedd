import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'
import { AnvilProcess } from '../../src/chain/node/anvil-process.ts'

/**
 * How a call is cut off: it is lost, or carried out and its answer lost, or the connection is lost first and it is carried out
 * later, perhaps as late as right behind the next call of the method.
 */
export type CutOff = 'call lost' | 'answer lost' | 'carried out later' | 'carried out behind the next' | 'Anvil killed'

/** Milliseconds until a call is carried out whose connection is lost. */
const LATER = 15

/** Stands before every Anvil that is started while it does, and cuts calls off. */
export class AnvilFront {
  readonly #servers: Server[] = []
  #armed: { method: string; how: CutOff; skip: number; strike: (anvil: AnvilProcess) => void } | undefined
  /** What is carried out behind the next call of the method. */
  #behind: { method: string; ask: () => Promise<unknown> } | undefined

  constructor() {
    const start = AnvilProcess.start.bind(AnvilProcess)
    vi.spyOn(AnvilProcess, 'start').mockImplementation(async (options) => {
      const anvil = await start(options)
      Object.defineProperty(anvil, 'url', { value: await this.#before(anvil, anvil.url) })
      return anvil
    })
  }

  /** Cuts off the next call of the method but `skip`, and the batch it is in. Resolves when that has happened. */
  cutOff(method: string, how: CutOff, skip = 0): Promise<void> {
    return new Promise((resolve) => {
      const strike = (anvil: AnvilProcess) => {
        if (how === 'Anvil killed') anvil.kill()
        resolve()
      }
      this.#armed = { method, how, skip, strike }
    })
  }

  close(): void {
    vi.restoreAllMocks()
    for (const server of this.#servers) server.close().closeAllConnections()
  }

  async #before(anvil: AnvilProcess, url: string): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const ask = async () => (await fetch(url, { method: 'POST', headers, body })).text()
      const meant = this.#armed && body.includes(`"${this.#armed.method}"`) ? this.#armed : undefined
      const armed = meant && meant.skip-- === 0 ? meant : undefined
      if (armed) this.#armed = undefined
      if (armed?.how === 'answer lost' || armed?.how === 'Anvil killed') await ask()
      if (armed?.how === 'carried out later') setTimeout(() => ask().catch(() => {}), LATER)
      const behind = this.#behind && body.includes(`"${this.#behind.method}"`) ? this.#behind : undefined
      if (behind) this.#behind = undefined
      if (armed?.how === 'carried out behind the next') this.#behind = { method: armed.method, ask }
      armed?.strike(anvil)
      if (armed) return void response.destroy()
      const asked = ask().finally(() => behind?.ask().catch(() => {})) // nobody is answered before
      await asked.then(
        (answer) => response.setHeader('content-type', 'application/json').end(answer), // sets its length, as Anvil does
        () => response.destroy(),
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.#servers.push(server)
    void anvil.exited.then(() => server.close().closeAllConnections())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
}
