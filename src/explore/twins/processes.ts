import type { SandboxClock } from '../../domain/clock.ts'
import type { Inside } from '../../exec/ground.ts'
import { type CommandEnd, runCommand } from '../../exec/run-command.ts'
import { addressOf } from '../../oracle/told.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import type { Stage } from '../run/play-command.ts'

/** Milliseconds of real time in which a process that rests has asked nothing new. */
const REST_MS = 2_000
/** The same when nothing is held any more: a process that works must get to its end, however slow the machine is. */
export const LAST_REST_MS = 10_000
/** Milliseconds in which a transfer that nothing keeps waiting is signed. */
const SIGNED_WITHIN_MS = 300
/** A process may take so many times as long to its first request as the other one. */
const STARTS_WITHIN = 3
/** Milliseconds between two looks at what a process asks. */
const PAUSE_MS = 20
/** Milliseconds from SIGTERM to SIGKILL. */
const GRACE_MS = 5_000

interface ProcessTerms {
  clock: SandboxClock
  inside: Inside
  /** @returns true if requests to this address are those of the process */
  isOwn(address: string | undefined): boolean
  /** Runs it to its end. Throws CommandStartError. */
  run(): Promise<CommandEnd>
}

/** A process of the command, by what it asks. */
export class PlayedProcess {
  /** Resolves to its end; rejects with the reason if it cannot be started. */
  readonly ended: Promise<CommandEnd>
  readonly #terms: ProcessTerms
  #run = () => {}
  #startedAt = 0
  #isOver = false

  constructor(terms: ProcessTerms) {
    this.#terms = terms
    const begun = new Promise<void>((resolve) => {
      this.#run = resolve
    })
    this.ended = begun.then(terms.run).finally(() => {
      this.#isOver = true
    })
    this.ended.catch(() => undefined) // who waits for it gets the same
  }

  start(): void {
    this.#startedAt = this.#terms.clock.wallNow()
    this.#run()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Milliseconds from its start to its first request; undefined before that. */
  get firstAfter(): number | undefined {
    const [first] = this.#asked()
    return first && Math.max(0, Date.parse(first.began.wall) - this.#startedAt)
  }

  /**
   * Resolves when it has ended, waits for the other process, or has asked nothing new for two seconds: it may wait in its own way, by a lock
   * or by looking again and again. Resolves as well when the other process ends meanwhile. `queues`: a transfer of it may have to wait behind
   * one of the other process. `rest`: milliseconds; default: two seconds.
   */
  async comesToRest(other: PlayedProcess, { queues = false, rest = REST_MS } = {}): Promise<void> {
    const { clock } = this.#terms
    const wasOver = other.isOver
    let news = -1
    let since = clock.wallNow()
    while (!this.isOver && other.isOver === wasOver) {
      const asked = this.#asked()
      const now = clock.wallNow()
      const count = newsIn(asked)
      if (count !== news) since = now
      news = count
      if (asked.some((one) => isWaiting(one, queues ? now : undefined))) return
      if (now - since >= this.#patience(asked, other, rest)) return
      await clock.wallSleep(PAUSE_MS)
    }
  }

  /** Until its first request, a process may still be starting: how long that takes, only the other one shows. */
  #patience(asked: readonly RecordedExchange[], other: PlayedProcess, rest: number): number {
    if (asked.length > 0) return rest
    const after = other.firstAfter
    return after === undefined ? Number.POSITIVE_INFINITY : Math.max(rest, STARTS_WITHIN * after)
  }

  /** Its requests to the service and the token endpoint, oldest first. */
  #asked(): RecordedExchange[] {
    const { inside, isOwn } = this.#terms
    return inside.exchanges.all().filter((one) => one.operation !== null && isOwn(addressOf(one)))
  }
}

/** Number of different requests that have begun or ended: one that is repeated as it was is no news. */
function newsIn(asked: readonly RecordedExchange[]): number {
  const names = asked.map((one) => JSON.stringify([one.request.path, one.request.query, one.idempotency?.key]))
  const ended = names.filter((_, i) => asked[i]?.end !== 'open')
  return new Set(names).size + new Set(ended).size
}

/**
 * @returns true for an open request that waits for one of the same key, or for a transfer that is not signed in time and thus stands behind
 * another of its portfolio. `now`: undefined if no transfer stands in its way.
 */
function isWaiting({ end, idempotency, transfer, began }: RecordedExchange, now: number | undefined): boolean {
  if (end !== 'open') return false
  if (idempotency?.use === 'joined') return true
  const isUnsigned = idempotency?.use === 'first' && transfer?.steps.every(({ step }) => step === 'claimed')
  return isUnsigned === true && now !== undefined && now - Date.parse(began.wall) >= SIGNED_WITHIN_MS
}

/** The second process: the same command in the same namespace, with another address of the sandbox in its environment. */
export class SecondProcess extends PlayedProcess {
  /** The address in the `Host` header of its requests. */
  readonly address: string
  readonly #clock: SandboxClock
  readonly #asked: AbortController
  readonly #insisted: AbortController
  #isStarted = false

  /** `url`: the second address of the sandbox. */
  constructor({ clock, terms }: Stage, inside: Inside, url: string) {
    const [asked, insisted] = [new AbortController(), new AbortController()]
    const { interruption, command, env } = terms
    const address = new URL(url).host
    super({
      ...{ clock, inside },
      isOwn: (one) => one === address,
      run: () =>
        runCommand(command, {
          ...terms,
          env: environmentAt(url, env),
          interruption: {
            asked: AbortSignal.any([interruption.asked, asked.signal]),
            insisted: AbortSignal.any([interruption.insisted, insisted.signal]),
          },
        }),
    })
    this.address = address
    this.#clock = clock
    this.#asked = asked
    this.#insisted = insisted
  }

  override start(): void {
    this.#isStarted = true
    super.start()
  }

  /** Ends it, unless it has ended: by SIGTERM, then by SIGKILL. Resolves to its end; to undefined if it was never started. */
  async stop(): Promise<CommandEnd | undefined> {
    if (!this.#isStarted) return undefined
    this.#asked.abort('SIGTERM')
    const inTime = new AbortController()
    const late = this.#clock.wallSleep(GRACE_MS, inTime.signal).then(() => this.#insisted.abort())
    try {
      return await this.ended
    } finally {
      inTime.abort()
      await late
    }
  }
}

/** The environment of a command with another address of its sandbox, whatever the names of its variables. */
function environmentAt(url: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = env.YIELD_SANDBOX_URL
  const moved = ([name, value]: [string, string | undefined]) => {
    const isOwn = value !== undefined && own !== undefined && (value === own || value.startsWith(`${own}/`))
    return [name, isOwn ? url + value.slice(own.length) : value]
  }
  return Object.fromEntries(Object.entries(env).map(moved))
}
