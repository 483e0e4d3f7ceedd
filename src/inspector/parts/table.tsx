import type { ComponentChildren } from 'preact'

/** A table. */
export interface TableProps {
  /** For screen readers, and to be seen if `hasCaption`. */
  label: string
  hasCaption?: boolean
  class?: string
  /** Names of the columns; one that begins with `>` stands at the right, as numbers do, and an empty one has no head. */
  head: readonly ComponentChildren[]
  rows: readonly { key: string | number; cells: readonly ComponentChildren[]; isChosen?: boolean }[]
  /** True if the first cell of a row is its head. */
  hasRowHeads?: boolean
}

/** Rows under named columns. A table that is wider than the page scrolls by itself, by keyboard as well. */
export function Table({ label, hasCaption, class: look, head, rows, hasRowHeads }: TableProps) {
  const sideOf = (i: number) => (String(head[i]).startsWith('>') ? 'r' : undefined)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must have the focus for arrow keys to reach it
    <section class="wide" tabIndex={0} aria-label={label}>
      <table class={look}>
        {hasCaption && <caption>{label}</caption>}
        <thead>
          <tr>
            {head.map((name, i) =>
              name === '' ? (
                <td key={i} />
              ) : (
                <th key={i} scope="col" class={sideOf(i)}>
                  {typeof name === 'string' ? name.replace('>', '') : name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells, isChosen }) => (
            <tr key={key} aria-selected={isChosen}>
              {cells.map((cell, i) =>
                hasRowHeads && i === 0 ? (
                  <th key={i} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={i} class={sideOf(i)}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
