import type { ComponentChildren } from 'preact'

/** A table. */
export interface TableProps {
  caption?: string
  /** Names of the columns; one that begins with `>` stands at the right, as numbers do, and an empty one has no head. */
  head: readonly string[]
  rows: readonly { key: string | number; cells: readonly ComponentChildren[]; isChosen?: boolean }[]
}

/** Rows under named columns. */
export function Table({ caption, head, rows }: TableProps) {
  const sideOf = (i: number) => (head[i]?.startsWith('>') ? 'r' : undefined)
  return (
    <table>
      {caption && <caption>{caption}</caption>}
      <thead>
        <tr>
          {head.map((name, i) =>
            name === '' ? (
              <td />
            ) : (
              <th key={name} scope="col" class={sideOf(i)}>
                {name.replace('>', '')}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells, isChosen }) => (
          <tr key={key} aria-selected={isChosen}>
            {cells.map((cell, i) => (
              <td key={i} class={sideOf(i)}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
