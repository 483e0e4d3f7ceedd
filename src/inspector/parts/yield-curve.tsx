import { dayOf } from '../model/list-items.ts'
import { tokensOf } from './amount.tsx'

/** A moment of business time, ISO 8601, and an amount then in minor units. */
export interface CurvePoint {
  at: string
  minor: string
}

const WIDTH = 560
const HEIGHT = 120
/** Days that are written below the curve. */
const MARKS = 4

/** Yield over business time, on a time axis: between two transfers it grows evenly. */
export function YieldCurve({
  points,
  decimals,
  symbol,
}: {
  points: readonly CurvePoint[]
  decimals: number
  symbol: string
}) {
  const [first, last] = [points[0], points.at(-1)]
  const span = first && last ? Date.parse(last.at) - Date.parse(first.at) : 0
  if (!first || !last || span <= 0)
    return <p class="mute">The yield over time is drawn once business time has moved on.</p>
  const amounts = points.map(({ minor }) => Number(minor))
  const [low, high] = [Math.min(0, ...amounts), Math.max(1, ...amounts)]
  const x = (at: string) => ((Date.parse(at) - Date.parse(first.at)) / span) * WIDTH
  const y = (amount: number) => HEIGHT - ((amount - low) / (high - low)) * (HEIGHT - 10)
  const line = points.map(({ at, minor }) => `${x(at).toFixed(1)},${y(Number(minor)).toFixed(1)}`).join(' ')
  const days = Array.from({ length: MARKS }, (_, i) => Date.parse(first.at) + (span * i) / (MARKS - 1))
  return (
    <figure class="curve">
      <figcaption>
        Yield, in {symbol}: {tokensOf(last.minor, decimals)} on {dayOf(last.at)}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points={`0,${y(0)} ${line} ${WIDTH},${y(0)}`} />
        <line x1="0" x2={WIDTH} y1={y(0)} y2={y(0)} />
        <polyline points={line} />
      </svg>
      <div class="days" aria-hidden="true">
        {days.map((day) => (
          <span key={day}>{dayOf(new Date(day).toISOString())}</span>
        ))}
      </div>
    </figure>
  )
}
