import type { Exchange } from '../../domain/exchange.ts'
import { aftermathOf, isLeftOpen, type Start } from '../../exec/aftermath.ts'
import { codeOfEnd } from '../../exec/command-end.ts'
import type { Inside } from '../../exec/ground.ts'
import { type CommandEnd, type CommandTerms, runCommand } from '../../exec/run-command.ts'
import { TRANSFERS } from '../../faults/parameters.ts'
import { jsonObject } from '../../support/json.ts'
import { aborted } from '../../support/waiting.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import type { RequestPosition } from '../exploration.ts'
import { matchOf } from '../plan/plan.ts'
import { BaselineFailure } from '../run/baseline-failure.ts'
import type { Played, Stage } from '../run/play-command.ts'
import type { AppTerms } from './app-server.ts'
import type { KillPoint } from './crash-points.ts'
import { recoveryOf } from './restart-condition.ts'

/** Where the command is killed. */
export interface Kill {
  position: RequestPosition
  point: KillPoint
}

/** How the command is killed and started again. */
export interface RestartTerms {
  /** Run by the shell in place of the command after a kill; undefined for the command itself. */
  recover: string | undefined
  /** Run by the shell to kill what does not belong to the command's process group, before the group is killed; undefined for nothing. */
  kill: string | undefined
  /** Maximum number of starts after the last kill. */
  restarts: number
  /** The server that is killed in place of the command; undefined where the command is. */
  app?: AppTerms | undefined
}

/** Milliseconds in which the connection of a killed process must be closed: its system closes it at once. */
const CLOSED_WITHIN_MS = 2_000
/** Milliseconds from the first request of the restarted command until a held transfer goes on in any case. */
const HELD_MS = 3_000
/** Milliseconds between two looks at what the restarted command asks. */
const PAUSE_MS = 20

/**
 * Runs the command, kills it at each of these points in order, and starts it again after each. Throws CommandStartError, and
 * {@link BaselineFailure} if the killed process was not the one that waits for the held exchange.
 */
export async function playCrash(stage: Stage, kills: readonly Kill[], terms: RestartTerms): Promise<Played> {
  const { client, clock } = stage
  const inside = await stage.inside()
  // All at once, and before anything is asked: rules count requests only as long as there is one.
  const traps = kills.map((kill) => new Trap(kill, inside))
  try {
    const before = await stage.before()
    if (before) return { before, end: before, aftermath: await aftermathOf(client, before, clock) }
    const starts: number[] = []
    const { end, killedAt, killed } = await killInTurn(stage, traps, { ...terms, inside, starts })
    const last = end
      ? { end, aftermath: await aftermathOf(client, end, clock) }
      : await restart(stage, traps, { ...terms, inside, starts, killedAt })
    const { note, ...start } = { note: undefined, ...last }
    return { ...start, crash: { killed, killedAt, starts, recovers: terms.recover !== undefined, note } }
  } finally {
    for (const trap of traps) trap.release()
  }
}

/** A point at which the command is killed as soon as it comes there. */
export class Trap {
  readonly point: KillPoint
  /** Resolves when an exchange has come to the point. */
  readonly sprung: Promise<Exchange>
  readonly release: () => void

  constructor({ position, point }: Kill, { faults }: Inside) {
    const { operation } = position
    const held = faults.hold({ phase: point.phase, match: { ...matchOf(position), operation } })
    this.point = point
    this.sprung = held.sprung
    this.release = held.release
  }
}

type Killing = RestartTerms & {
  inside: Inside
  /** Gets the number of the last exchange before each further start. */
  starts: number[]
}

/** Kills the first start at the first point, the second at the second. `end` is set if a start ended before its point came. */
async function killInTurn(stage: Stage, traps: readonly Trap[], terms: Killing) {
  const killed = traps.map(() => false)
  let killedAt = 0
  for (const [i, trap] of traps.entries()) {
    const earlier = traps.slice(0, i).filter(({ point }) => point.underWay)
    const end = await runUntil(trap, stage, { ...terms, command: commandAfter(i, stage, terms), earlier, killedAt })
    if (end) return { end, killedAt, killed }
    killed[i] = true
    killedAt = terms.inside.exchanges.range.next - 1
    terms.starts.push(killedAt)
  }
  return { end: undefined, killedAt, killed }
}

/** The command of a start after so many kills. */
function commandAfter(kills: number, stage: Stage, { recover }: RestartTerms): readonly string[] {
  return kills === 0 ? stage.terms.command : recoveryOf(stage, recover)
}

/** Runs a command until it is killed at the trap: then resolves to undefined. Resolves to its end if it ended before. */
async function runUntil(
  trap: Trap,
  stage: Stage,
  terms: Killing & { command: readonly string[]; earlier: readonly Trap[]; killedAt: number },
): Promise<CommandEnd | undefined> {
  const { inside, killedAt, earlier } = terms
  const over = new AbortController()
  const running = stage.run(terms.command, { kill: over.signal })
  const letting = letGo(earlier, { inside, killedAt, clock: stage.clock, over: over.signal })
  const held = await Promise.race([trap.sprung, running.then(() => undefined)])
  if (!held) {
    over.abort()
    await letting
    return running
  }
  const { afterAnswer } = trap.point
  if (afterAnswer !== undefined) {
    trap.release()
    await isOver(held)
    await stage.clock.wallSleep(afterAnswer)
  }
  const killing = await runKill(terms.kill, stage.terms)
  over.abort()
  await Promise.all([running, letting])
  if (afterAnswer === undefined) await requireClosed(held, stage, { killing, killed: 'your command' })
  if (!trap.point.underWay) trap.release()
  return undefined
}

/** Resolves when the exchange is over. */
export function isOver({ over }: Exchange): Promise<void> {
  return aborted(over)
}

/** Runs `--kill` in the shell. Resolves to its end; to undefined if there is none. */
export async function runKill(kill: string | undefined, terms: CommandTerms): Promise<CommandEnd | undefined> {
  return kill === undefined ? undefined : runCommand(['sh', '-c', kill], terms)
}

/** Throws if the connection of the held exchange outlives the killed processes: then another process holds it. */
export async function requireClosed(
  held: Exchange,
  { clock }: Pick<Stage, 'clock'>,
  by: { killing: CommandEnd | undefined; killed: 'your command' | 'the server' },
): Promise<void> {
  const patience = new AbortController()
  const late = clock.wallSleep(CLOSED_WITHIN_MS, patience.signal).then(() => true)
  const alive = await Promise.race([isOver(held).then(() => false), late])
  patience.abort()
  if (alive) throw BaselineFailure.outlivesKill(by)
}

/** Starts the command again after the last kill: once, and again as long as it fails or leaves something open. */
async function restart(stage: Stage, traps: readonly Trap[], terms: Killing & { killedAt: number }) {
  const { inside, killedAt, restarts, starts } = terms
  const { client, clock } = stage
  const command = commandAfter(traps.length, stage, terms)
  const held = traps.filter(({ point }) => point.underWay)
  for (let start = 1; ; start++) {
    const over = new AbortController()
    const letting = letGo(held, { inside, killedAt, clock, over: over.signal })
    const end = await stage.run(command).finally(() => over.abort())
    await letting
    for (const trap of traps) trap.release()
    const aftermath = await aftermathOf(client, end, clock)
    const isDone = codeOfEnd(end) === 0 && !isLeftOpen(aftermath)
    if (isDone || start >= restarts || stage.terms.interruption.asked.aborted)
      return { end, aftermath, note: silenceOf({ end, aftermath }, { killedAt, starts: start }) }
    starts.push(inside.exchanges.range.next - 1)
  }
}

/** In words, that a command which was started again has asked nothing; undefined if it has asked something. */
function silenceOf(
  { end, aftermath }: Start,
  { killedAt, starts }: { killedAt: number; starts: number },
): string | undefined {
  const { exchanges } = aftermath.evidence
  if (exchanges.some(({ number, operation }) => number > killedAt && operation !== null)) return undefined
  if (codeOfEnd(end) === 0) return 'started again, it asked this sandbox nothing'
  const often = starts === 1 ? 'once' : `${starts} times`
  return `it refused to start, ${often}: it asked this sandbox nothing (a lock file of the killed one does that)`
}

interface LettingGo {
  inside: Inside
  /** Number of the last exchange before the restart. */
  killedAt: number
  clock: Stage['clock']
  over: AbortSignal
}

/**
 * Lets transfers that are under way go on as soon as the restarted command waits for them, has looked, or has ended; the latest so many
 * milliseconds after its first request. A command that looks once and then pays again does so before that.
 */
export async function letGo(
  held: readonly Trap[],
  { inside: { exchanges }, killedAt, clock, over }: LettingGo,
): Promise<void> {
  if (held.length === 0) return
  const exchange = await Promise.race(held.map(({ sprung }) => sprung))
  let since: number | undefined
  let waiting = false
  while (!over.aborted) {
    await clock.wallSleep(PAUSE_MS, over)
    const later = exchanges.all().filter(({ number }) => number > killedAt)
    if (later.some(({ operation }) => operation !== null)) since ??= clock.wallNow()
    if (later.some((one) => hasLooked(one, exchange))) break
    // Seen twice, since a request that is refused is open for a moment as well.
    const waits = later.some((one) => isWaiting(one, exchange))
    if ((waits && waiting) || (since !== undefined && clock.wallNow() - since >= HELD_MS)) break
    waiting = waits
  }
  for (const trap of held) trap.release()
}

/** A client that looks at its balance instead, and pays again, comes to wait. */
function hasLooked({ operation, external_id, end }: RecordedExchange, held: Exchange): boolean {
  return operation === 'list_transactions' && external_id === held.external_id && end === 'answered'
}

/** @returns true for an open transfer of the same end user: it joins the held one, or queues behind it */
function isWaiting({ operation, external_id, end, request }: RecordedExchange, held: Exchange): boolean {
  const isTransfer = operation !== null && TRANSFERS.includes(operation)
  return isTransfer && end === 'open' && external_id === held.external_id && jsonObject(request.body) !== undefined
}
