import type { ServerResponse } from 'node:http'
import { SandboxClock } from '../domain/clock.ts'
import type { ListenedApp, Listener } from '../http/listener.ts'
import type { SandboxListener } from './sandbox.ts'

/** Milliseconds that answers have to go out before the state is given away. */
const ANSWERS_MS = 1_000

/**
 * The public address of a process of a fleet, as the sandbox in it sees it: it outlives the sandbox, since requests are led elsewhere
 * when another process has the state.
 */
export class FleetDoor implements SandboxListener {
  readonly #listener: Listener
  readonly #open = new Set<ServerResponse>()
  #app: ListenedApp | undefined
  #closed: Promise<void> | undefined

  constructor(listener: Listener) {
    this.#listener = listener
  }

  get url(): string {
    return this.#listener.url
  }

  get origin(): Listener['origin'] {
    return this.#listener.origin
  }

  openBeside(host: string): Promise<string> {
    return this.#listener.openBeside(host)
  }

  async serve(app: ListenedApp): Promise<void> {
    this.#app = app
    await app.ready()
    app.server.prependListener('request', (_request, response) => {
      this.#open.add(response)
      response.once('close', () => this.#open.delete(response))
    })
  }

  /** Resolves when what the sandbox has answered has gone out. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const sent = [...this.#open].map((response) => new Promise((resolve) => response.once('close', resolve)))
    await Promise.race([Promise.all(sent), new SandboxClock().wallSleep(ANSWERS_MS)])
    await this.#app?.close()
  }
}
