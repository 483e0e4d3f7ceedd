import type { Level } from '../../control/contract.ts'
import { idInWords, LEVELS } from '../model/levels.ts'
import { alikeIn, type FaultMatrix, type MatrixCell } from '../model/matrix.ts'
import { Table } from './table.tsx'

/** Names and meanings of outcomes by their ids, the worst first. */
export type OutcomeNames = Readonly<Record<string, { name: string; meaning: string }>>

/** What the matrix needs to be drawn. */
export interface MatrixTableProps {
  matrix: FaultMatrix
  names: OutcomeNames
  /** Name of the trial that is shown beside it. */
  selected?: string
  /** Address of a trial; without it, cells are no links. */
  linkOf?(trial: string): string
}

/** Every fault at every operation; each cell says in words what its sign and its colour say. */
export function MatrixTable({ matrix: { operations, rows }, names, selected, linkOf }: MatrixTableProps) {
  const nameOf = (outcome: string) => names[outcome]?.name ?? idInWords(outcome)
  const legend = new Map<string, MatrixCell[0]>()
  for (const cell of rows.flatMap(({ cells }) => cells)) {
    for (const entry of cell ?? []) legend.set(`${signOf(entry)} ${entry.outcome}`, entry)
  }
  return (
    <>
      <Table
        label="Every fault at every operation"
        class="matrix"
        hasRowHeads
        head={['', ...operations.map(idInWords)]}
        rows={rows.map(({ fault, cells }) => ({
          key: fault,
          cells: [
            fault,
            ...cells.map(
              (cell) =>
                cell && (
                  <Cell cell={cell} name={nameOf(cell[0].outcome)} selected={selected} href={linkOf?.(cell[0].id)} />
                ),
            ),
          ],
        }))}
      />
      <ul class="legend mute">
        {[...legend.values()].map((entry) => (
          <li key={entry.outcome + entry.level}>
            <b class={toneOf(entry)}>
              {signOf(entry)} {nameOf(entry.outcome)}
            </b>
            {names[entry.outcome] && `: ${names[entry.outcome]?.meaning}`}
          </li>
        ))}
      </ul>
    </>
  )
}

interface CellProps {
  cell: MatrixCell
  name: string
  selected: string | undefined
  href: string | undefined
}

function Cell({ cell, name, selected, href }: CellProps) {
  const [worst] = cell
  const [count, all] = [alikeIn(cell), cell.length]
  const words = all === 1 ? name : `${name}: ${count} of ${all}`
  const shown = { class: `cell ${toneOf(worst)}`, title: words, 'aria-label': words }
  const text = `${signOf(worst)}${all === 1 ? '' : ` ${count === all ? all : `${count}/${all}`}`}`
  return href === undefined ? (
    <span role="img" {...shown}>
      {text}
    </span>
  ) : (
    <a {...shown} href={href} aria-current={cell.some(({ id }) => id === selected) || undefined}>
      {text}
    </a>
  )
}

/** Outcomes with a sign of their own. */
const OWN: Record<string, string> = { hung: '∞', untried: '·' }

/** Sign of a run, by its level: an outcome is milder for a new portfolio, or in an outage. */
export function signOf({ outcome, level }: { outcome: string; level: Level }): string {
  return OWN[outcome] ?? LEVELS[level].sign
}

function toneOf({ level }: { level: Level }): string {
  return LEVELS[level].tone
}
