import type { MoneyPoint } from '../../control/contract.ts'
import { dayOf } from '../model/list-items.ts'
import { tokensOf } from './amount.tsx'

const WIDTH = 560
const HEIGHT = 120

/** Yield over business time, on a time axis: between two transfers it grows evenly. */
export function YieldCurve({
  points,
  decimals,
  symbol,
}: {
  points: readonly MoneyPoint[]
  decimals: number
  symbol: string
}) {
  const [first, last] = [points[0], points.at(-1)]
  const span = first && last ? Date.parse(last.at) - Date.parse(first.at) : 0
  if (!first || !last || span <= 0)
    return <p class="mute">The yield over time is drawn once business time has moved on.</p>
  const amounts = points.map(({ yield_minor }) => Number(yield_minor))
  const [low, high] = [Math.min(0, ...amounts), Math.max(1, ...amounts)]
  const x = (at: string) => ((Date.parse(at) - Date.parse(first.at)) / span) * WIDTH
  const y = (amount: number) => HEIGHT - ((amount - low) / (high - low)) * (HEIGHT - 10)
  const line = points.map(({ at }, i) => `${x(at).toFixed(1)},${y(amounts[i] ?? 0).toFixed(1)}`).join(' ')
  return (
    <figure class="curve">
      <figcaption>
        Yield, in {symbol}: {tokensOf(last.yield_minor, decimals)} on {dayOf(last.at)}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points={`0,${y(0)} ${line} ${WIDTH},${y(0)}`} />
        <line x1="0" x2={WIDTH} y1={y(0)} y2={y(0)} />
        <polyline points={line} />
      </svg>
      <div class="days" aria-hidden="true">
        {[0, 1, 2, 3].map((third) => (
          <span key={third}>{dayOf(Date.parse(first.at) + (span * third) / 3)}</span>
        ))}
      </div>
    </figure>
  )
}
