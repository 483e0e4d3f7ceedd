import type { OperationRow } from '../../control/contract.ts'

/** An item of the list: an operation, a fold of calls that move no money, or the heading of a time. */
export type ListItem =
  | { kind: 'row'; row: OperationRow; folded: boolean }
  | { kind: 'calls'; key: number; rows: OperationRow[]; open: boolean }
  | Heading

/** Stands above the rows of one time: its date, and by how many days the clock was moved to get there; null for the first one. */
interface Heading {
  kind: 'jump'
  key: string
  date: string
  days: number | null
}

/** Difference of the two clocks' ways between neighbours from which a heading says that the clock was moved. */
const JUMP_MS = 60 * 60 * 1000
const DAY_MS = 24 * JUMP_MS

/** Items for rows, newest first. `open` has the keys of folds that are open; that of the selected row is open as well. */
export function listItems(
  rows: readonly OperationRow[],
  open: ReadonlySet<number>,
  selected?: OperationRow,
): ListItem[] {
  const items: ListItem[] = []
  let calls: OperationRow[] = []
  const endCalls = () => {
    const oldest = calls.at(-1)
    if (!oldest) return
    const key = oldest.number
    const fold = {
      kind: 'calls' as const,
      key,
      rows: calls,
      open: open.has(key) || calls.some((row) => row === selected),
    }
    items.push(fold)
    if (fold.open) for (const row of calls) items.push({ kind: 'row', row, folded: true })
    calls = []
  }
  let heading: Heading | undefined
  rows.forEach((row, i) => {
    const newer = rows[i - 1]
    const way = newer ? jumped(row, newer) : 0
    if (!heading || way > JUMP_MS) {
      endCalls()
      if (heading) heading.days = way / DAY_MS
      heading = { kind: 'jump', key: '', date: '', days: null }
      items.push(heading)
    }
    heading.key = `jump-${row.number}`
    heading.date = row.began.clock
    if (row.moves_money || row.tone === 'bad') {
      endCalls()
      items.push({ kind: 'row', row, folded: false })
    } else calls.push(row)
  })
  endCalls()
  return items
}

/** Milliseconds by which the sandbox's clock went further than real time from one row to a newer one. */
function jumped(older: OperationRow, newer: OperationRow): number {
  const way = (clock: 'clock' | 'wall') => Date.parse(newer.began[clock]) - Date.parse(older.began[clock])
  return way('clock') - way('wall')
}

/** "token ×2, pools, end user" */
export function callsInWords(rows: readonly OperationRow[]): string {
  const counts = new Map<string, number>()
  for (const { operation } of rows) {
    const name = operationName(operation).toLowerCase()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name)).join(', ')
}

/** Names of operations, in the order in which a client meets them. */
export const OPERATION_NAMES: Record<string, string> = {
  token: 'Token',
  list_pools: 'Pools',
  create_end_user: 'End user',
  create_portfolio: 'New portfolio',
  list_portfolios: 'Portfolios',
  deposit: 'Deposit',
  withdraw: 'Withdrawal',
  list_transactions: 'Transactions',
}

/** Name of an operation for people. */
export function operationName(operation: string | null): string {
  return operation === null ? 'Unknown path' : (OPERATION_NAMES[operation] ?? operation)
}

/** `18 Dec 2026` of a moment, ISO 8601 or milliseconds since the Unix epoch, in UTC. */
export function dayOf(moment: string | number): string {
  // An Intl.DateTimeFormat takes the browser some 15 ms, before the first row.
  return new Date(moment).toUTCString().slice(5, 16).replace(/^0/, '')
}
