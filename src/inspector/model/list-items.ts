import type { OperationRow } from '../../control/contract.ts'

/** An item of the list: an operation, a fold of calls that move no money, or the heading of a time. */
export type ListItem =
  | { kind: 'row'; row: OperationRow; folded: boolean }
  | { kind: 'calls'; key: number; rows: OperationRow[]; open: boolean }
  | { kind: 'jump'; key: string; date: string; days: number | null }

/** Difference of the two clocks' ways between neighbours from which a heading says that the clock was moved. */
const JUMP_MS = 60 * 60 * 1000
const DAY_MS = 24 * JUMP_MS

/** Items for rows, newest first. `open` has the keys of folds that are open. */
export function listItems(rows: readonly OperationRow[], open: ReadonlySet<number>): ListItem[] {
  const items: ListItem[] = []
  let calls: OperationRow[] = []
  const endCalls = () => {
    const oldest = calls.at(-1)
    if (!oldest) return
    const fold = { kind: 'calls' as const, key: oldest.number, rows: calls, open: open.has(oldest.number) }
    items.push(fold)
    if (fold.open) for (const row of calls) items.push({ kind: 'row', row, folded: true })
    calls = []
  }
  let period: OperationRow | undefined
  rows.forEach((row, i) => {
    const newer = rows[i - 1]
    if (i === 0 || (newer && jumped(row, newer) > JUMP_MS)) {
      endCalls()
      items.push(heading(row, rows, i))
      period = row
    }
    if (row.moves_money || row.tone === 'bad') {
      endCalls()
      items.push({ kind: 'row', row, folded: false })
    } else calls.push(row)
  })
  endCalls()
  return period ? items : []
}

/** Milliseconds by which the sandbox's clock went further than real time from one row to a newer one. */
function jumped(older: OperationRow, newer: OperationRow): number {
  const way = (clock: 'clock' | 'wall') => Date.parse(newer.began[clock]) - Date.parse(older.began[clock])
  return way('clock') - way('wall')
}

/** The heading of the time whose newest row is at an index: its date, and by how much the clock was moved to get there. */
function heading(newest: OperationRow, rows: readonly OperationRow[], from: number): ListItem {
  let oldest = newest
  for (let i = from + 1; i < rows.length; i++) {
    const next = rows[i]
    if (!next) break
    const way = jumped(next, oldest)
    if (way > JUMP_MS) {
      return { kind: 'jump', key: `jump-${oldest.number}`, date: oldest.began.clock, days: way / DAY_MS }
    }
    oldest = next
  }
  return { kind: 'jump', key: `jump-${oldest.number}`, date: oldest.began.clock, days: null }
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

const NAMES: Record<string, string> = {
  deposit: 'Deposit',
  withdraw: 'Withdrawal',
  create_portfolio: 'New portfolio',
  create_end_user: 'End user',
  list_pools: 'Pools',
  list_portfolios: 'Portfolios',
  list_transactions: 'Transactions',
  token: 'Token',
}

/** Name of an operation for people. */
export function operationName(operation: string | null): string {
  return operation === null ? 'Unknown path' : (NAMES[operation] ?? operation)
}

/** `18 Dec 2026` of an ISO 8601 moment, in UTC. */
export function dayOf(moment: string): string {
  const [, , month = 1, day] = /^(\d+)-(\d+)-(\d+)/.exec(moment)?.map(Number) ?? []
  const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
  return `${day} ${names[month - 1]} ${moment.slice(0, 4)}`
}
