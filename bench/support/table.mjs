/**
 * Rows as a table for people. A row: `what` was measured, its `value` with `unit`, `beside` what, that one's `reference`
 * value in the same unit, the ratio of the two, and the `aim` for it. `note` stands for what could not be measured.
 */
export function table(rows) {
  const header = ['measured', 'value', 'beside', 'value', 'ratio', 'aim']
  const lines = [header, ...rows.map(cells)]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const [head, ...body] = lines.map((line) => `| ${line.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`)
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n')
}

function cells({ what, value, unit = '', beside = '', reference, aim = '', note }) {
  if (note) return [what, note, beside, '', '', aim]
  const ratio = reference === undefined ? '' : (value / reference).toFixed(2)
  return [what, quantity(value, unit), beside, quantity(reference, unit), ratio, aim]
}

function quantity(value, unit) {
  if (value === undefined) return ''
  const digits = value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value).toLocaleString('en')
  return `${digits} ${unit}`.trim()
}
