/** Minor units as a number of tokens: `250000000`, 6 decimals → `250.00`; digits beyond the second are shown if they are not zero. */
export function tokensOf(minor: string, decimals: number): string {
  const sign = minor.startsWith('-') ? '−' : ''
  const digits = minor.replace(/^[-+]/, '').padStart(decimals + 1, '0')
  const whole = inThousands(digits.slice(0, digits.length - decimals))
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '').padEnd(2, '0')
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** `1234567` → `1,234,567`. */
function inThousands(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',')
}

/** The difference of two amounts in minor units. */
export function minus(a: string, b: string): string {
  return String(BigInt(a) - BigInt(b))
}

/** An amount. */
export interface AmountProps {
  /** Minor units, a digit string; null for an amount that is not known. */
  minor: string | null
  /** Null for a token that is not known: then the minor units are shown. */
  decimals: number | null
  symbol?: string | null | undefined
  /** True if the sign of a positive amount is shown. */
  signed?: boolean
  /** Decimals that are shown at most; the exact amount is in the title. */
  most?: number
  class?: string
}

/** An amount in tokens; its title and value are the minor units. */
export function Amount({ minor, decimals, symbol, signed = false, most, class: name }: AmountProps) {
  if (minor === null) return null
  const text = decimals === null ? minor : tokensOf(minor, decimals)
  const shown = most === undefined ? text : text.replace(/\.\d+/, (digits) => digits.slice(0, most && most + 1))
  const plus = signed && /^[1-9]/.test(minor) ? '+' : ''
  const unit = decimals === null ? ' minor units' : symbol ? ` ${symbol}` : ''
  return (
    <data class={name} value={minor} title={`${inThousands(minor)} minor units`}>
      {plus}
      {shown}
      {unit && <small>{unit}</small>}
    </data>
  )
}
