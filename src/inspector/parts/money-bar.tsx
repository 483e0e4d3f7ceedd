import { Amount, minus } from './amount.tsx'
import { Icon } from './icon.tsx'

/** Money of one portfolio before, as it should be, and as it is. */
export interface MoneyBarProps {
  /** Minor units; undefined where it is not known. */
  before?: string | undefined
  expected: string
  after: string
  symbol: string
  decimals: number
  /** A sentence below; none if left out. */
  note?: string
}

/** Before, should be and is, with a bar that hatches what is too much and leaves open what is missing. */
export function MoneyBar({ before, expected, after, symbol, decimals, note }: MoneyBarProps) {
  const surplus = BigInt(after) - BigInt(expected)
  const unit = { decimals, symbol: null }
  const largest = largestOf([before ?? '0', expected, after])
  const percent = (amount: bigint) => (largest === 0n ? 0 : Number((amount * 1000n) / largest) / 10)
  const solid = surplus > 0n ? BigInt(expected) : BigInt(after)
  const rest = surplus > 0n ? surplus : -surplus
  return (
    <div class="card money">
      <dl>
        {before !== undefined && (
          <div>
            <dt>Before</dt>
            <dd>
              <Amount minor={before} {...unit} />
            </dd>
          </div>
        )}
        <div>
          <dt>Should be</dt>
          <dd>
            <Amount minor={expected} {...unit} />
          </dd>
        </div>
        <div class={surplus === 0n ? '' : 'bad'}>
          <dt>Is</dt>
          <dd>
            <Amount minor={after} decimals={decimals} symbol={symbol} />
          </dd>
        </div>
        {surplus !== 0n && (
          <div class="bad difference">
            <dt class="sr">Difference</dt>
            <dd>
              <Icon name="bad" /> <Amount minor={minus(after, expected).replace('-', '')} {...unit} />{' '}
              {surplus > 0n ? 'too much' : 'too little'}
            </dd>
          </div>
        )}
      </dl>
      <div class="track" aria-hidden="true">
        <i style={{ width: `${percent(solid)}%` }} />
        {rest > 0n && <i class={surplus > 0n ? 'over' : 'missing'} style={{ width: `${percent(rest)}%` }} />}
      </div>
      {note !== undefined && <p class="mute">{note}</p>}
    </div>
  )
}

function largestOf(amounts: readonly string[]): bigint {
  let largest = 0n
  for (const amount of amounts.map(BigInt)) if (amount > largest) largest = amount
  return largest
}
