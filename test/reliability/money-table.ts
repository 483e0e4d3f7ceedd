import { readFileSync } from 'node:fs'

type Operation = 'deposit' | 'withdraw'

/** A row of the table in docs/money.md. */
export interface Row {
  phase: string
  /** As the header `X-Sandbox-Fault` takes it, but for the phase; `–` for none. */
  fault: string
  /** The operation it holds for; both if there is none. */
  only?: Operation
  sees: string
  chain: string
  list: string
  rightAfter: string
  later: string
  fresh: string
}

const DOCS = new URL('../../docs/money.md', import.meta.url)

/** The table of docs/money.md, or what of it holds for an operation. */
export function documentedRows(operation?: Operation): Row[] {
  const lines = readFileSync(DOCS, 'utf8').split('\n')
  const below = lines.slice(lines.findIndex((line) => /^\| *-/.test(line)) + 1)
  const end = below.findIndex((line) => !line.startsWith('|'))
  return below
    .slice(0, end === -1 ? undefined : end)
    .map((line) => line.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')))
    .map(([, phase = '', fault = '', sees = '', chain = '', list = '', rightAfter = '', later = '', fresh = '']) => {
      const [, name = fault, only] = /^`(.*)` \((deposit|withdraw)\)$/.exec(fault) ?? []
      const row: Row = { phase, fault: name, sees, chain, list, rightAfter, later, fresh }
      return only ? { ...row, only: only as Operation } : row
    })
    .filter(({ only }) => only === undefined || operation === undefined || only === operation)
}

/** A row as the name of a test. */
export function nameOf({ phase, fault, sees, chain, list, rightAfter, later, fresh }: Row): string {
  const what = fault === '–' ? 'no fault' : `${fault} at ${phase}`
  const key = `same key ${rightAfter}, later ${later}; fresh key ${fresh} transaction`
  return `${what}: the client sees ${sees}; on chain ${chain}; in the list ${list}; ${key}`
}
