import type { IncomingMessage, ServerResponse } from 'node:http'
import { SandboxClock } from '../domain/clock.ts'
import type { ListenedApp, Listener } from '../http/listener.ts'
import { abortController, aborted } from '../support/waiting.ts'
import type { SandboxListener } from './sandbox.ts'

/** Milliseconds that answers have to go out before the state is given away. */
const ANSWERS_MS = 1_000

/** Streams that end with their namespace: nobody waits for them. */
const STREAM = /\/events(?:\?|$)/

/**
 * The public address of a process of a fleet, as the sandbox in it sees it: it outlives the sandbox, since requests are led elsewhere
 * when another process has what they are for.
 */
export class FleetDoor implements SandboxListener {
  readonly #listener: Listener
  readonly #nameOf: (request: IncomingMessage) => string | undefined
  readonly #clock = new SandboxClock() // for real time only
  /** The answers that are not out, with the namespace of each. */
  readonly #open = new Map<ServerResponse, string | undefined>()
  #app: ListenedApp | undefined
  #closed: Promise<void> | undefined

  /** `nameOf`: the namespace that a request was led to. */
  constructor(listener: Listener, nameOf: (request: IncomingMessage) => string | undefined) {
    this.#listener = listener
    this.#nameOf = nameOf
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
    app.server.prependListener('request', (request, response) => {
      this.#open.set(response, STREAM.test(request.url ?? '') ? undefined : this.#nameOf(request))
      response.once('close', () => this.#open.delete(response))
    })
  }

  /** Waits for the requests of a namespace that are open now. @returns false if the signal is aborted before they have ended */
  async whenEnded(name: string, over: AbortSignal): Promise<boolean> {
    const open = [...this.#open].flatMap(([response, of]) => (of === name ? [response] : []))
    const ended = Promise.all(open.map(whenClosed)).then(() => true)
    return Promise.race([ended, aborted(over).then(() => open.length === 0)])
  }

  /** A signal that aborts after milliseconds of real time. */
  after(milliseconds: number): AbortSignal {
    const over = abortController()
    void this.#clock.wallSleep(milliseconds).then(() => over.abort())
    return over.signal
  }

  /** Resolves when what the sandbox has answered has gone out. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const sent = Promise.all([...this.#open.keys()].map(whenClosed))
    await Promise.race([sent, this.#clock.wallSleep(ANSWERS_MS)])
    await this.#app?.close()
  }
}

function whenClosed(response: ServerResponse): Promise<void> {
  return response.closed ? Promise.resolve() : new Promise((resolve) => response.once('close', () => resolve()))
}
