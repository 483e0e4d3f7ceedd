import type { ControlClient } from '../../control/client.ts'
import type { SandboxClock } from '../../domain/clock.ts'
import { type Again, aftermathOf, lastNumber, runAgain, type Start } from '../../exec/aftermath.ts'
import type { Inside } from '../../exec/ground.ts'
import { type CommandEnd, type CommandTerms, runBefore, runCommand } from '../../exec/run-command.ts'
import { abortController } from '../../support/waiting.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** A fresh namespace, and everything that a run in it needs. */
export class Stage {
  /** Milliseconds that the command has run for, in all its starts. */
  took = 0
  /** Milliseconds that `--before` has taken. */
  prepared = 0

  constructor(
    readonly client: ControlClient,
    /** Parts of the namespace itself. Throws where the sandbox is another process. */
    readonly inside: () => Promise<Inside>,
    readonly terms: Again,
    readonly prepare: string | undefined,
    /** Milliseconds of real time after which faults that have struck are removed; 0 for never. */
    readonly holding: number,
  ) {}

  get clock(): SandboxClock {
    return this.terms.clock
  }

  /** Runs `--before`, as part of what is to be judged. Resolves to its end when it failed, else to undefined. */
  async before(): Promise<CommandEnd | undefined> {
    const began = this.clock.wallNow()
    const failed = await runBefore(this.prepare, this.terms)
    this.prepared = this.clock.wallNow() - began
    return failed
  }

  /** Runs a command until its end, or until it is killed. Throws CommandStartError. */
  async run(
    command: readonly string[],
    also: Pick<CommandTerms, 'kill'> & Partial<CommandTerms> = {},
  ): Promise<CommandEnd> {
    const began = this.clock.wallNow()
    try {
      return await runCommand(command, { ...this.terms, ...also })
    } finally {
      this.took += this.clock.wallNow() - began
    }
  }
}

/** The last start of a run's command, and what came before it. */
export interface Played extends Start {
  /** How `--before` ended, if it failed: the command was not run then. */
  before?: CommandEnd
  /** Number of the last exchange before the last start, if there were several. */
  restarted?: number | undefined
  crash?: Crashed
  /** The exchanges of one more start after everything was done, if there was one. */
  again?: readonly RecordedExchange[]
  twin?: Twinned
}

/** A run in which the command was to be killed. */
export interface Crashed {
  /** For each kill in order, true if its moment came. */
  killed: readonly boolean[]
  /** Number of the last exchange before the last kill; 0 if none came. */
  killedAt: number
  /** Number of the last exchange before each start but the first, in order. */
  starts: readonly number[]
  /** True if another command is started after a kill than the one that was killed. */
  recovers: boolean
  /** True if a server was killed, and the command that drives it never was. */
  drives?: boolean
  /** In words, what was wrong with the starts after the last kill: they asked nothing, or the server was not ready again. */
  note?: string | undefined
}

/** A run in which a second process ran beside the command. */
export interface Twinned {
  /** True if the second process was started: the first one came to the point where it was to be. */
  met: boolean
  /** The address by which its requests came. */
  address: string
  /** How it ended, in words, where that was not well: it is not judged by that. */
  said: string | undefined
}

/** Runs the command once, and again as long as it has left something open. Throws CommandStartError. */
export async function playCommand(stage: Stage): Promise<Played> {
  const { client, clock, terms, holding } = stage
  const before = await stage.before()
  if (before) return { before, end: before, aftermath: await aftermathOf(client, before, clock) }
  const over = abortController()
  const letting = holding > 0 ? letGoInTime(client, holding, clock, over.signal) : undefined
  letting?.catch(() => undefined) // below it rejects with the same
  const end = await stage.run(terms.command).finally(() => over.abort())
  await letting
  const first = { end, aftermath: await aftermathOf(client, end, clock) }
  const last = await runAgain(client, first, terms)
  return last === first ? first : { ...last, restarted: lastNumber(first.aftermath.evidence) }
}

/** Milliseconds between two looks at the faults. */
const PAUSE_MS = 100

/**
 * Removes each fault so many milliseconds of real time after it has struck, until the signal is aborted. The clock of a run
 * is frozen, so that all runs earn the same yield; a fault that lasts for a time would never end.
 */
async function letGoInTime(client: ControlClient, held: number, clock: SandboxClock, over: AbortSignal): Promise<void> {
  const since = new Map<string, number>()
  for (;;) {
    await clock.wallSleep(PAUSE_MS, over)
    if (over.aborted) return
    const now = clock.wallNow()
    for (const { id, hits } of await client.faults()) {
      if (hits === 0) continue
      const struck = since.get(id) ?? now
      since.set(id, struck)
      if (now - struck >= held) await client.removeFault(id)
    }
  }
}
