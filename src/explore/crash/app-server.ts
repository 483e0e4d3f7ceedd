import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandEnd, type CommandTerms, runCommand } from '../../exec/run-command.ts'
import { oneLine } from '../../support/foreign-text.ts'
import { abortController } from '../../support/waiting.ts'

/** A server that the command drives, and that is killed in the command's place. */
export interface AppTerms {
  /** Run by the shell. It must stay until it is ended. */
  command: string
  /** An `http:` or `https:` URL that answers with 2xx, or a command of the shell that ends with 0, as soon as the server can be used. */
  ready: string
  /** Milliseconds within which it must be ready after each start. */
  readyWithin: number
  /** Run by the shell until it ends with 0: then the server has nothing left to do. Undefined: then it asks nothing for two seconds. */
  until: string | undefined
}

/** The variable that gives each server a port of its own. */
export const APP_PORT = 'YIELD_APP_PORT'

/** Milliseconds from SIGTERM to SIGKILL. */
const GRACE_MS = 5_000
/** Milliseconds between two checks for readiness. */
const PAUSE_MS = 100
/** Milliseconds for one answer of a server that is asked if it is ready. */
const PATIENCE_MS = 2_000
/** Number of characters of a server's output that an error shows. */
const SHOWN = 300

/** @returns true if `--ready` is a URL and no command */
export function isUrl(ready: string): boolean {
  return /^https?:\/\//i.test(ready)
}

/** The URL with `$NAME` and `${NAME}` replaced by variables, as a shell does. */
export function withVariables(url: string, env: NodeJS.ProcessEnv): string {
  return url.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced, bare) => env[braced ?? bare] ?? '')
}

/** How a start of the server went: it is ready, has ended, or was not ready in time. */
export type AppStart = 'ready' | 'ended' | 'late'

interface Life {
  ended: Promise<CommandEnd>
  /** Aborted when the server has ended. */
  over: AbortController
  kill: AbortController
  terminate: AbortController
  insist: AbortController
}

/** The server of one run: started, killed, started again, and ended at last. One process at a time. */
export class AppServer {
  /** The last end that nobody asked for; undefined if there was none since the last start. */
  end: CommandEnd | undefined
  /** True from a start until it is known how that went. */
  isStarting = false
  readonly #app: AppTerms
  readonly #terms: CommandTerms
  readonly #folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-app-'))
  readonly #log = openSync(this.#logPath, 'a')
  #life: Life | undefined

  /** `terms` are those of the command that drives it; {@link APP_PORT} is in the environment. */
  constructor(app: AppTerms, terms: CommandTerms) {
    this.#app = app
    this.#terms = { ...terms, timeout: undefined, stdio: ['ignore', this.#log, this.#log] }
  }

  get #logPath(): string {
    return join(this.#folder, 'output')
  }

  /** The end of the server's output, in one line. */
  get lastWords(): string {
    return oneLine(readFileSync(this.#logPath, 'utf8').trimEnd().slice(-SHOWN), SHOWN)
  }

  /** @returns true if its output says that another process has its port */
  get lacksPort(): boolean {
    return /EADDRINUSE|address already in use/i.test(readFileSync(this.#logPath, 'utf8'))
  }

  /** @returns true if something answers already where only the server should. Commands are not asked: they may do more than look. */
  async answersAlready(): Promise<boolean> {
    return isUrl(this.#app.ready) && (await this.#status(new AbortController().signal)) !== undefined
  }

  /** Starts it, and waits until it is ready. Throws CommandStartError. */
  async start(): Promise<AppStart> {
    const { clock, interruption } = this.#terms
    const life = this.#begin()
    this.isStarting = true
    try {
      const deadline = clock.wallNow() + this.#app.readyWithin
      while (!life.over.signal.aborted && !interruption.asked.aborted) {
        if (await this.#isReady(life.over.signal)) return life.over.signal.aborted ? 'ended' : 'ready'
        if (clock.wallNow() >= deadline) return 'late'
        await clock.wallSleep(PAUSE_MS, life.over.signal)
      }
      return 'ended'
    } finally {
      this.isStarting = false
    }
  }

  /** Resolves when the present process has ended; at once if there is none. */
  async gone(): Promise<void> {
    await this.#life?.ended
  }

  /** Kills it with SIGKILL, and everything that it started in its process group. */
  async kill(): Promise<void> {
    const life = this.#life
    this.#life = undefined
    life?.kill.abort()
    await life?.ended
    this.end = undefined
  }

  /** Ends it by SIGTERM, then by SIGKILL, and forgets its output. */
  async stop(): Promise<void> {
    const life = this.#life
    this.#life = undefined
    try {
      if (!life) return
      life.terminate.abort('SIGTERM')
      await Promise.race([life.ended, this.#terms.clock.wallSleep(GRACE_MS, life.over.signal)])
      life.insist.abort('SIGKILL')
      await life.ended
    } finally {
      closeSync(this.#log)
      rmSync(this.#folder, { recursive: true, force: true })
    }
  }

  #begin(): Life {
    const { interruption } = this.#terms
    const [kill, terminate, insist, over] = [abortController(), abortController(), abortController(), abortController()]
    const asked = AbortSignal.any([interruption.asked, terminate.signal])
    const insisted = AbortSignal.any([interruption.insisted, insist.signal])
    const ended = runCommand(['sh', '-c', this.#app.command], {
      ...this.#terms,
      interruption: { asked, insisted },
      kill: kill.signal,
    })
    const life: Life = { ended, over, kill, terminate, insist }
    this.#life = life
    this.end = undefined
    const noteEnd = (end: CommandEnd | undefined) => {
      if (this.#life === life) this.end = end
      over.abort()
    }
    ended.then(noteEnd, () => noteEnd(undefined))
    return life
  }

  async #isReady(over: AbortSignal): Promise<boolean> {
    const { ready } = this.#app
    if (isUrl(ready)) {
      const status = await this.#status(over)
      return status !== undefined && status >= 200 && status < 300
    }
    return isDone(ready, this.#terms)
  }

  /** The status that the URL answers with; undefined for no answer. */
  async #status(over: AbortSignal): Promise<number | undefined> {
    try {
      const signal = AbortSignal.any([over, AbortSignal.timeout(PATIENCE_MS)])
      const response = await fetch(withVariables(this.#app.ready, this.#terms.env), { signal })
      await response.body?.cancel()
      return response.status
    } catch {
      return undefined // nobody listens there, or not yet
    }
  }
}

/** @returns true if a command of the shell ends with 0 */
export async function isDone(command: string, terms: CommandTerms): Promise<boolean> {
  const { code } = await runCommand(['sh', '-c', command], { ...terms, stdio: ['ignore', 'ignore', 'ignore'] })
  return code === 0
}

/** First port for servers, and the number of ports: below those that systems give to outgoing connections, so that no connection takes one. */
const PORTS = { from: 20_000, count: 10_000 }
let taken = process.pid * 7

/** A free port of 127.0.0.1, another one at each call. */
export async function freeAppPort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + (taken++ % PORTS.count)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
