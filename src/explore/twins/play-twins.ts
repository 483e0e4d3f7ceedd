import type { Exchange } from '../../domain/exchange.ts'
import { aftermathOf, lastNumber, runAgain } from '../../exec/aftermath.ts'
import { codeOfEnd, endInAWord } from '../../exec/command-end.ts'
import type { Inside } from '../../exec/ground.ts'
import type { CommandEnd } from '../../exec/run-command.ts'
import type { Held } from '../../faults/hold.ts'
import { type Meeting, matchOf } from '../plan/plan.ts'
import type { Played, Stage } from '../run/play-command.ts'
import { LAST_REST_MS, PlayedProcess, SecondProcess } from './processes.ts'
import type { Barrier } from './twin-points.ts'

/**
 * Runs the command and, beside it, the same command once more, which has an address of its own. At the point, the first process is held
 * until the second has ended, waits for the first, or has come to rest. Only the end of the first is judged: a second one that finds that
 * another instance runs is right. Nothing is left running.
 * Throws CommandStartError.
 */
export async function playTwins(
  stage: Stage,
  { position, point }: Meeting,
  barrier: Barrier | undefined,
): Promise<Played> {
  const { client, clock, terms } = stage
  const inside = await stage.inside()
  const url = await inside.secondUrl()
  const before = await stage.before()
  if (before) return { before, end: before, aftermath: await aftermathOf(client, before, clock) }
  const second = new SecondProcess(stage, inside, url)
  const twins = { stage, inside, second }
  try {
    const { end: ofFirst, met } =
      point.atOnce && barrier ? await bothAtOnce(twins, barrier) : await secondWhileHeld(twins, { position, point })
    const ofSecond = await second.stop()
    // Of two that are started at once, it is chance which one finds that the other one runs.
    const isSecond = point.atOnce === true && isWell(ofSecond) && !isWell(ofFirst)
    const [end, other] = isSecond ? [ofSecond, ofFirst] : [ofFirst, ofSecond]
    const first = { end, aftermath: await aftermathOf(client, end, clock) }
    const last = await runAgain(client, first, terms)
    const address = isSecond ? new URL(terms.env.YIELD_SANDBOX_URL ?? url).host : second.address
    const twin = { met, address, said: saidOf(other) }
    return { ...last, twin, ...(last !== first && { restarted: lastNumber(first.aftermath.evidence) }) }
  } finally {
    await second.stop()
  }
}

interface Twins {
  stage: Stage
  inside: Inside
  second: SecondProcess
}

/** Starts the second process when the first one is held. `met` is false if the first one never came to the point. */
async function secondWhileHeld({ stage, inside, second }: Twins, { position, point }: Meeting) {
  const { operation } = position
  // The first that fits is of the first process: the second one is not there yet.
  const held = inside.faults.hold({
    phase: point.phase,
    match: { ...matchOf(position), operation },
  })
  try {
    const first = firstProcess({ stage, inside, second })
    const met = await Promise.race([held.sprung.then(() => true), first.ended.then(() => false)])
    if (met) {
      second.start()
      await second.comesToRest(first, { queues: point.phase === 'after_broadcast' })
    }
    held.release()
    const end = await first.ended
    // It may have waited for the first one, and only now does what it was started for.
    if (met) await lastRest({ stage, second }, first)
    return { end, met }
  } finally {
    held.release()
  }
}

/** Starts both, and holds each at the barrier until the other one is there, has ended, or has come to rest before. */
async function bothAtOnce({ stage, inside, second }: Twins, { operation, ordinal }: Barrier) {
  const { address } = second
  const [ofFirst, ofSecond] = [false, true].map((isSecond) =>
    inside.faults.hold({
      phase: 'on_request',
      match: { operation },
      applies: nthOf(ordinal, ({ host }) => (host === address) === isSecond),
    }),
  ) as [Held, Held]
  try {
    const first = firstProcess({ stage, inside, second })
    second.start()
    await Promise.all([
      Promise.race([ofFirst.sprung, first.comesToRest(second)]),
      Promise.race([ofSecond.sprung, second.comesToRest(first)]),
    ])
    ofFirst.release()
    ofSecond.release()
    const end = await first.ended
    await lastRest({ stage, second }, first)
    return { end, met: true }
  } finally {
    ofFirst.release()
    ofSecond.release()
  }
}

/** Lets the second process go on after the first one has ended, unless all of it is interrupted. */
async function lastRest({ stage, second }: Omit<Twins, 'inside'>, first: PlayedProcess): Promise<void> {
  if (stage.terms.interruption.asked.aborted) return
  await second.comesToRest(first, { rest: LAST_REST_MS })
}

function firstProcess({ stage, inside, second }: Twins): PlayedProcess {
  const { clock, terms } = stage
  const run = () => stage.run(terms.command)
  const first = new PlayedProcess({ clock, inside, run, isOwn: (address) => address !== second.address })
  first.start()
  return first
}

/** Selects the exchange of this ordinal among those that are meant: a rule's own count is of both processes together. */
function nthOf(ordinal: number, isMeant: (exchange: Exchange) => boolean): (exchange: Exchange) => boolean {
  const seen = new Set<Exchange>()
  let chosen: Exchange | undefined
  return (exchange) => {
    if (!isMeant(exchange)) return false
    seen.add(exchange)
    if (seen.size === ordinal) chosen ??= exchange
    return exchange === chosen
  }
}

function isWell(end: CommandEnd | undefined): end is CommandEnd {
  return end !== undefined && codeOfEnd(end) === 0
}

/** The end of the process that is not judged, where it is worth a word: "the other process ended with 3". */
function saidOf(end: CommandEnd | undefined): string | undefined {
  return end === undefined || isWell(end) ? undefined : `the other process ended with ${endInAWord(end)}`
}
