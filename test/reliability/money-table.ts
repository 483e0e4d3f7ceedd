import { readFileSync } from 'node:fs'

/** A row of the table in docs/money.md. */
export interface Row {
  phase: string
  /** As the header `X-Sandbox-Fault` takes it, but for the phase; `–` for none. */
  fault: string
  sees: string
  chain: string
  list: string
  rightAfter: string
  later: string
  fresh: string
}

const DOCS = new URL('../../docs/money.md', import.meta.url)

/** The table of docs/money.md. */
export function documentedRows(): Row[] {
  const lines = readFileSync(DOCS, 'utf8').split('\n')
  const rows = lines.slice(lines.findIndex((line) => /^\| *-/.test(line)) + 1)
  return rows
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')))
    .map(([, phase = '', fault = '', sees = '', chain = '', list = '', rightAfter = '', later = '', fresh = '']) => {
      return { phase, fault, sees, chain, list, rightAfter, later, fresh }
    })
}

/** A row as the name of a test. */
export function nameOf({ phase, fault, sees, chain, list, rightAfter, later, fresh }: Row): string {
  const what = fault === '–' ? 'no fault' : `${fault} at ${phase}`
  const key = `same key ${rightAfter}, later ${later}; fresh key ${fresh} transaction`
  return `${what}: the client sees ${sees}; on chain ${chain}; in the list ${list}; ${key}`
}
