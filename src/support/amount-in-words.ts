/** An amount of minor units as people write it: `2,000.00`; at least two decimals, and no zeros behind them. */
export function amountInWords(minor: bigint, decimals: number): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(Math.min(2, decimals), '0')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${minor < 0n ? '−' : ''}${grouped}${fraction === '' ? '' : `.${fraction}`}`
}
