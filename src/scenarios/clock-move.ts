import { END_OF_TIME, type SandboxClock } from '../domain/clock.ts'
import { parseDuration, parseMoment } from '../support/quantities.ts'
import type { ScenarioClockMove } from './scenario-schema.ts'

/** Business time after a move that begins at `now`, in milliseconds. Throws RangeError when it cannot be made. */
export function destination(move: ScenarioClockMove, now: number): number {
  if ('freeze' in move) return now
  const then = 'advance' in move ? now + parseDuration(move.advance) : parseMoment(move.set)
  if (then < now) throw new RangeError(`the clock only moves forward; it is ${new Date(now).toISOString()}`)
  if (then > END_OF_TIME) throw new RangeError('the sandbox clock ends with the year 9999')
  return then
}

/** Makes the move. Throws RangeError when it cannot be made; then the clock is as it was. */
export function makeMove(move: ScenarioClockMove, clock: SandboxClock): void {
  if ('freeze' in move) {
    if (move.freeze) clock.freeze()
    else clock.unfreeze()
  } else {
    const now = clock.now()
    clock.advance(destination(move, now) - now)
  }
}

/** One sentence: what the move does, and when. */
export function explainMove(move: ScenarioClockMove): string {
  const { after } = move
  const what =
    'freeze' in move
      ? `the clock ${move.freeze ? 'is frozen' : 'runs on'}`
      : 'advance' in move
        ? `the clock is moved on by ${move.advance}`
        : `the clock is set to ${move.set}`
  const { operation, times = 1 } = after ?? {}
  return operation ? `After ${times} successful ${operation}, ${what}.` : `At the start, ${what}.`
}
