import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import type { Logger } from '../support/logger.ts'
import { SerialQueue } from '../support/serial-queue.ts'
import type { EventFeed } from './event-feed.ts'
import type { JudgedOperations } from './judged-operations.ts'
import type { News } from './news.ts'
import { type JudgementOfView, OperationsView, type ViewChange, type ViewSources } from './operations-view.ts'

/** Dependencies of {@link LiveOperations}. */
export interface LiveDeps extends ViewSources {
  clock: SandboxClock
  log: Logger
  feed: EventFeed
  news: News
}

/** Milliseconds of real time in which changes are gathered. */
const GATHER_MS = 100
/** The next look comes after so many times the duration of the last one, so that clients feel nothing of it. */
const LOOK_PAUSES = 50
/** On a busy machine a look takes long by the clock alone, and a page that is minutes behind is of no use. */
const MOST_LOOK_PAUSE_MS = 2_000
/** Likewise the next judgement, which takes longer, unless nothing has come for a while: then it is in nobody's way. */
const JUDGE_PAUSES = 100
const MOST_JUDGE_PAUSE_MS = 60_000
const QUIET_MS = 300
/** Number of operations whose judgement takes longer than a page waits. */
export const MANY = 1000
/** Maximum number of rows in an event. */
const MAX_ROWS = 100

/** Keeps the view of a namespace's operations up to date while somebody looks, and feeds its changes. */
export class LiveOperations {
  readonly #deps: LiveDeps
  readonly #queue = new SerialQueue()
  #view: OperationsView
  #begun: Promise<void>
  #changed = new Set<number>()
  #forgotten: 'reset' | 'deleted' | undefined
  #oldest: number
  #ended = false
  /** True while a look is to come. */
  #due = false
  #lookAfter = 0
  /** Real time of the last look that found a change. */
  #changedAt = 0
  #judgeAfter = 0
  /** A judgement that is under way or waits for its turn. */
  #judging: Promise<void> | undefined
  /** A judgement that is under way. */
  #running: Promise<JudgedOperations> | undefined

  constructor(deps: LiveDeps) {
    this.#deps = deps
    const { exchanges } = deps
    exchanges.watcher = {
      changed: (number) => {
        this.#changed.add(number)
        if (!this.#due) this.#lookSoon()
      },
      forgotten: (reason) => {
        this.#forgotten = reason
        if (!this.#due) this.#lookSoon()
      },
    }
    this.#oldest = exchanges.range.oldest
    this.#view = new OperationsView(deps)
    this.#begun = this.#queue.run(async () => {
      await this.#view.begin()
    })
    this.#begun.then(
      () => {
        // The first rows are made meanwhile, and those who wait for them are not held up.
        if (this.#view.total >= MANY) this.#judgeAfter = deps.clock.monotonicNow() + QUIET_MS
        this.#judgeSoon()
      },
      () => undefined,
    )
  }

  get view(): OperationsView {
    return this.#view
  }

  /** The judgement that runs or is due; resolves at once if there is none. */
  get judgement(): Promise<void> {
    return this.#judging ?? Promise.resolve()
  }

  /** Resolves when the view has everything that is on record now. */
  async upToDate(): Promise<void> {
    await this.#begun
    await this.#look()
  }

  /**
   * The judgement of everything that is on record now: the one that is shown, or one that is made at once. All who ask meanwhile share it.
   * Throws what the evidence throws.
   */
  async judged(): Promise<JudgedOperations> {
    await this.upToDate()
    // One that is under way may have begun before the last change.
    if (!this.#view.judged) await this.#running?.catch(() => undefined)
    return this.#view.judgement ?? (await this.#run())
  }

  end(): void {
    this.#ended = true
    this.#deps.exchanges.watcher = null
  }

  #lookSoon(): void {
    this.#due = true
    const { clock } = this.#deps
    const wait = Math.max(GATHER_MS, this.#lookAfter - clock.monotonicNow())
    void clock.wallSleep(wait).then(() => this.#look())
  }

  /** Takes in what has changed, and feeds it. */
  #look(): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#ended) return
      const { clock, log } = this.#deps
      const begun = clock.monotonicNow()
      const changed = this.#changed
      this.#changed = new Set()
      this.#due = false
      try {
        await this.#takeForgotten()
        if (changed.size === 0) return
        this.#changedAt = begun
        await this.#feed(await this.#view.update(changed))
        this.#judgeSoon()
      } catch (error) {
        log.error({ err: error }, 'the overview could not take in a change')
      } finally {
        const now = clock.monotonicNow()
        this.#lookAfter = now + Math.min(MOST_LOOK_PAUSE_MS, LOOK_PAUSES * (now - begun))
      }
    })
  }

  async #takeForgotten(): Promise<void> {
    const { exchanges, feed } = this.#deps
    const reason = this.#forgotten
    const { oldest } = exchanges.range
    const isFull = oldest !== this.#oldest
    this.#forgotten = undefined
    this.#oldest = oldest
    if (reason === undefined) {
      if (isFull) feed.emit('forgotten', { oldest, oldest_money: this.#view.oldestMoney, reason: 'room' })
      return
    }
    this.#view = new OperationsView(this.#deps)
    await this.#view.begin()
    feed.emit('forgotten', { oldest: null, oldest_money: null, reason })
    feed.emit('headline', this.#view.headline)
    await this.#feed({ groups: [...this.#view.newestFirst()], gone: [] })
    this.#judgeSoon()
  }

  async #feed({ groups, gone }: ViewChange): Promise<void> {
    if (groups.length === 0 && gone.length === 0) return
    const view = this.#view
    const operations = await view.rows(groups.slice(0, MAX_ROWS))
    const more = Math.max(0, groups.length - MAX_ROWS)
    this.#deps.feed.emit('operations', { operations, more, gone, total: view.total })
  }

  #judgeSoon(): void {
    this.#judging ??= this.#judge().finally(() => {
      this.#judging = undefined
      if (!this.#ended && !this.#view.judged) this.#judgeSoon()
    })
  }

  /** Judges, once its turn has come, and nobody has done it meanwhile. */
  async #judge(): Promise<void> {
    const { clock, log } = this.#deps
    let wait = this.#judgeAfter - clock.monotonicNow()
    while (wait > 0 && !this.#ended) {
      await clock.wallSleep(Math.min(QUIET_MS, wait))
      const isQuiet = !this.#due && clock.monotonicNow() - this.#changedAt >= QUIET_MS
      wait = isQuiet ? 0 : this.#judgeAfter - clock.monotonicNow()
    }
    if (this.#ended || this.#view.judged) return
    try {
      await this.#run()
    } catch (error) {
      // Before the ledger is there, and during a reset, nothing can be judged.
      if (!(error instanceof Problem)) log.error({ err: error }, 'the overview could not be judged')
    }
  }

  /** The judgement that is under way, or else a new one. */
  #run(): Promise<JudgedOperations> {
    this.#running ??= this.#judgeNow().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #judgeNow(): Promise<JudgedOperations> {
    const { clock } = this.#deps
    await this.#view.prepare()
    const begun = clock.monotonicNow()
    this.#judgeAfter = begun + GATHER_MS
    try {
      const view = this.#view
      const judgement = await view.judge()
      await this.#queue.run(() => this.#show(view, judgement))
      return judgement.judged
    } finally {
      const now = clock.monotonicNow()
      const pause = Math.min(MOST_JUDGE_PAUSE_MS, JUDGE_PAUSES * (now - begun))
      this.#judgeAfter = Math.max(this.#judgeAfter, now + pause)
    }
  }

  /** Shows a judgement, unless its view is not shown any more. */
  async #show(view: OperationsView, judgement: JudgementOfView): Promise<void> {
    if (this.#ended || view !== this.#view) return
    const { feed, news } = this.#deps
    const { headline } = view
    await this.#feed(view.show(judgement))
    if (JSON.stringify(headline) === JSON.stringify(view.headline)) return
    feed.emit('headline', view.headline)
    if (view.headline.contradicted !== headline.contradicted || view.headline.tone !== headline.tone) news.tell()
  }
}
