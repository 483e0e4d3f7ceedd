import type { Exchange } from '../../domain/exchange.ts'
import { aftermathOf, lastNumber, type Start } from '../../exec/aftermath.ts'
import { endInWords } from '../../exec/command-end.ts'
import type { Inside } from '../../exec/ground.ts'
import { type CommandEnd, type CommandTerms, runCommand } from '../../exec/run-command.ts'
import { shorten } from '../../support/foreign-text.ts'
import { abortController } from '../../support/waiting.ts'
import { BaselineFailure } from '../run/baseline-failure.ts'
import type { Played, Stage } from '../run/play-command.ts'
import { APP_PORT, AppServer, type AppStart, type AppTerms, freeAppPort, isDone, isUrl } from './app-server.ts'
import { isOver, type Kill, letGo, type RestartTerms, requireClosed, runKill, Trap } from './play-crash.ts'
import { movedMore } from './restart-condition.ts'

/** How a server is killed and started again, while the command drives it. */
type AppRestartTerms = RestartTerms & { app: AppTerms }

/** Milliseconds without a request and without an open exchange after which the server has nothing left to do. */
const QUIET_MS = 2_000
/** Milliseconds between two looks at what the server asks. */
const PAUSE_MS = 100

/**
 * Starts the server, and the command that drives it and is never killed; kills the server at each of these points in order, and starts it
 * again after each. Throws CommandStartError, and {@link BaselineFailure} if the server does not start, or if the killed process was not
 * the one that waits for the held exchange.
 */
export function playApp(stage: Stage, kills: readonly Kill[], terms: AppRestartTerms): Promise<Played> {
  return withApp(stage, terms, async (run) => {
    const { end, aftermath, crash } = await run.play(kills)
    return kills.length === 0 ? { end, aftermath } : { end, aftermath, crash }
  })
}

/** A run without a kill, and the server killed after it and started once more. Throws {@link BaselineFailure} if that moves money. */
export function playAppRestartable(stage: Stage, terms: AppRestartTerms): Promise<Played> {
  return withApp(stage, terms, async (run) => {
    const { end, aftermath } = await run.play([])
    if (end.code !== 0 || end.timedOut) return { end, aftermath }
    const later = await run.onceMore(end)
    const moved = movedMore(aftermath, later)
    if (moved !== undefined) throw BaselineFailure.appNotRestartable(moved)
    return { end, aftermath, restarted: lastNumber(aftermath.evidence) }
  })
}

/** Runs `--before`, then plays with a server on a port of its own. Whatever happens, nothing is left running. */
async function withApp(stage: Stage, terms: AppRestartTerms, play: (run: AppRun) => Promise<Played>): Promise<Played> {
  const { client, clock } = stage
  const inside = await stage.inside()
  const before = await stage.before()
  if (before) return { before, end: before, aftermath: await aftermathOf(client, before, clock) }
  const run = new AppRun(stage, inside, { ...terms, port: await freeAppPort() })
  try {
    return await play(run)
  } finally {
    await run.stop()
  }
}

/** One run of a server and the command that drives it. */
class AppRun {
  readonly #stage: Stage
  readonly #inside: Inside
  readonly #terms: AppRestartTerms
  /** Terms of every command in the run. */
  readonly #commands: CommandTerms
  readonly #server: AppServer
  /** Aborted when the run is over, whatever it came to. */
  readonly #over = abortController()
  /** Aborted when the server is not to be started again any more. */
  #life = abortController()
  #traps: Trap[] = []
  /** Everything that must have ended before the run is over. */
  readonly #tasks: Promise<unknown>[] = []
  /** What came of the last start after a kill, if it is not what a server should do. */
  #note: string | undefined

  constructor(stage: Stage, inside: Inside, terms: AppRestartTerms & { port: number }) {
    this.#stage = stage
    this.#inside = inside
    this.#terms = terms
    this.#commands = { ...stage.terms, env: { ...stage.terms.env, [APP_PORT]: String(terms.port) } }
    this.#server = new AppServer(terms.app, this.#commands)
  }

  /** Runs the command beside the server, and kills the server at these points in order. Resolves when both are at rest. */
  async play(kills: readonly Kill[]) {
    const { client, clock, terms } = this.#stage
    const began = clock.wallNow()
    // All at once, and before anything is asked: rules count requests only as long as there is one.
    this.#traps = kills.map((kill) => new Trap(kill, this.#inside))
    await this.#startFirst()
    const driver = runCommand(terms.command, { ...this.#commands, kill: this.#over.signal })
    const done = driver.then((end) => this.#atRest(end, this.#terms.app.until))
    const work = Promise.all([done, this.#killInTurn(done)])
    this.#tasks.push(driver, work)
    const [end, killed] = await Promise.race([work, this.#unasked()])
    if (kills.length === 0 && end.timedOut && !(await driver).timedOut) throw this.#neverRests()
    for (const trap of this.#traps) trap.release()
    this.#stage.took += clock.wallNow() - began
    const aftermath = await aftermathOf(client, end, clock)
    return { end, aftermath, crash: { ...killed, recovers: false, drives: true, note: this.#note } }
  }

  /** Kills the server and starts it once more, without the command. Throws {@link BaselineFailure} if it does not come to rest. */
  async onceMore(end: CommandEnd): Promise<Start['aftermath']> {
    const { client, clock, terms } = this.#stage
    await this.#server.kill()
    const start = await this.#server.start()
    if (start !== 'ready' && !terms.interruption.asked.aborted)
      throw BaselineFailure.appNotRestartable(this.#notReady(start))
    if ((await this.#atRest(end)).timedOut) throw this.#neverRests()
    return aftermathOf(client, end, clock)
  }

  /** Ends everything that still runs. */
  async stop(): Promise<void> {
    this.#over.abort()
    this.#life.abort()
    for (const trap of this.#traps) trap.release()
    await this.#server.stop()
    await Promise.allSettled(this.#tasks)
  }

  /** Throws {@link BaselineFailure} if the server is not ready, or if another one answers in its place. */
  async #startFirst(): Promise<void> {
    const { app } = this.#terms
    if (await this.#server.answersAlready()) throw BaselineFailure.appAnswersAlready(app.ready)
    const start = await this.#server.start()
    if (start === 'ready' || this.#stage.terms.interruption.asked.aborted) return
    throw this.#failure(this.#notReady(start))
  }

  /** Never resolves; throws {@link BaselineFailure} when the server ends although nobody has killed it yet. */
  async #unasked(): Promise<never> {
    await this.#server.gone()
    const { end } = this.#server
    if (end && !this.#stage.terms.interruption.asked.aborted)
      throw this.#failure(`${endInWords(end, 'the server')} without being killed`)
    return new Promise(() => undefined)
  }

  #failure(what: string): BaselineFailure {
    const { lacksPort, lastWords } = this.#server
    return lacksPort ? BaselineFailure.appLacksPort(what) : BaselineFailure.appFails(what, lastWords)
  }

  #notReady(start: AppStart): string {
    const { ready, readyWithin } = this.#terms.app
    const { end } = this.#server
    if (start === 'ended' && end) return `${endInWords(end, 'the server')} before it was ready`
    const sign = isUrl(ready) ? 'answer with 2xx' : 'end with 0'
    return `the server was not ready after ${readyWithin / 1000} s: --ready "${shorten(ready)}" must ${sign}, and --timeout gives it more time`
  }

  #neverRests(): BaselineFailure {
    return BaselineFailure.appNeverRests(this.#stage.terms.timeout ?? 0, this.#terms.app.until)
  }

  async #killInTurn(done: Promise<unknown>) {
    const killed = this.#traps.map(() => false)
    const starts: number[] = []
    let killedAt = 0
    for (const [i, trap] of this.#traps.entries()) {
      const held = await Promise.race([trap.sprung, done.then(() => undefined)])
      if (!held) break
      await this.#kill(trap, held)
      killed[i] = true
      killedAt = this.#inside.exchanges.range.next - 1
      starts.push(killedAt)
      this.#startAgain(this.#traps.slice(0, i + 1), killedAt)
    }
    return { killed, killedAt, starts }
  }

  async #kill(trap: Trap, held: Exchange): Promise<void> {
    const { afterAnswer, underWay } = trap.point
    if (afterAnswer !== undefined) {
      trap.release()
      await isOver(held)
      await this.#stage.clock.wallSleep(afterAnswer)
    }
    const killing = await runKill(this.#terms.kill, this.#commands)
    this.#life.abort()
    await this.#server.kill()
    if (afterAnswer === undefined) await requireClosed(held, this.#stage, { killing, killed: 'the server' })
    if (!underWay) trap.release()
  }

  /** Starts the server again after a kill, at once, and again as long as it ends by itself, as what supervises servers does. */
  #startAgain(traps: readonly Trap[], killedAt: number): void {
    const { clock } = this.#stage
    const life = abortController()
    this.#life = life
    const held = traps.filter(({ point }) => point.underWay)
    const letting = letGo(held, { inside: this.#inside, killedAt, clock, over: this.#over.signal })
    const tasks = [letting, this.#keepUp(life.signal)]
    for (const task of tasks) task.catch(() => undefined) // what fails here shows in how the command ends
    this.#tasks.push(...tasks)
  }

  async #keepUp(life: AbortSignal): Promise<void> {
    for (let start = 1; start <= this.#terms.restarts && !life.aborted; start++) {
      const state = await this.#server.start()
      if (state === 'late') this.#note = this.#notReady(state)
      await this.#server.gone()
      const { end } = this.#server
      if (!end || life.aborted) return
      const what = state === 'ended' ? 'refused to start' : 'ended by itself'
      this.#note = `the server ${what} when it was started again, ${start === 1 ? 'once' : `${start} times`} (${endInWords(end, 'it')})`
    }
  }

  /** Resolves when the server has nothing left to do after the command's end; at the time limit to an end that was not in time. */
  async #atRest(end: CommandEnd, until?: string): Promise<CommandEnd> {
    const { clock, terms } = this.#stage
    const { timeout = Number.POSITIVE_INFINITY, interruption } = terms
    const deadline = clock.wallNow() + timeout
    let busyAt = clock.wallNow()
    let seen = 0
    while (!end.timedOut && !interruption.asked.aborted && !this.#over.signal.aborted) {
      const { next } = this.#inside.exchanges.range
      if (next !== seen || this.#isBusy()) busyAt = clock.wallNow()
      seen = next
      const isQuiet = clock.wallNow() - busyAt >= QUIET_MS
      if (until === undefined ? isQuiet : await isDone(until, this.#commands)) return end
      if (clock.wallNow() >= deadline) return { ...end, timedOut: true }
      await clock.wallSleep(PAUSE_MS, interruption.asked)
    }
    return end
  }

  #isBusy(): boolean {
    return this.#server.isStarting || this.#inside.exchanges.all().some(({ end }) => end === 'open')
  }
}
