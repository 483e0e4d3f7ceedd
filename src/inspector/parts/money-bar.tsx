import { Amount } from './amount.tsx'
import { Facts } from './facts.tsx'
import { Icon } from './icon.tsx'

/** Money of one portfolio before, as it should be, and as it is. */
export interface MoneyBarProps {
  /** Minor units; undefined where it is not known. */
  before?: string | undefined
  expected: string
  after: string
  token_symbol: string
  token_decimals: number
  /** A sentence below; none if left out. */
  note?: string
}

/** Before, should be and is, with a bar that hatches what is too much and leaves open what is missing. */
export function MoneyBar({
  before,
  expected,
  after,
  token_symbol: symbol,
  token_decimals: decimals,
  note,
}: MoneyBarProps) {
  const surplus = BigInt(after) - BigInt(expected)
  const [solid = 0, whole = 0] = [Number(expected), Number(after)].sort((a, b) => a - b)
  const percent = (amount: number) => `${(amount / Math.max(whole, Number(before ?? 0), 1)) * 100}%`
  return (
    <div class="card money">
      <Facts
        class=""
        facts={[
          ['Before', before && <Amount minor={before} decimals={decimals} />],
          ['Should be', <Amount minor={expected} decimals={decimals} />],
          ['Is', <Amount minor={after} decimals={decimals} symbol={symbol} />, surplus === 0n ? undefined : 'bad'],
          ['Difference', surplus !== 0n && <Surplus minor={String(surplus)} decimals={decimals} />, 'bad difference'],
        ]}
      />
      <div class="track" aria-hidden="true">
        <i style={{ width: percent(solid) }} />
        {surplus !== 0n && <i class={surplus > 0n ? 'over' : 'missing'} style={{ width: percent(whole - solid) }} />}
      </div>
      {note !== undefined && <p class="mute">{note}</p>}
    </div>
  )
}

/** How much there is too much, or below zero too little. */
export function Surplus({ minor, decimals, symbol }: { minor: string; decimals: number; symbol?: string }) {
  return (
    <>
      <Icon name="bad" /> <Amount minor={minor.replace('-', '')} decimals={decimals} symbol={symbol} />{' '}
      {minor.startsWith('-') ? 'too little' : 'too much'}
    </>
  )
}
