import { readFile } from 'node:fs/promises'
import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import { PACKAGE_ROOT } from '../package-root.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** What the page of errors says of a code. */
interface Advice {
  when: string
  advice: string
}

/** The error codes, as docs/errors.md explains them. */
export async function errorCodes(): Promise<CatalogueEntry[]> {
  const advice = adviceIn(await readFile(new URL('docs/errors.md', PACKAGE_ROOT), 'utf8'))
  return (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const { status, title } = ERRORS[code]
    const said = advice.get(code)
    return {
      id: code,
      is: 'error code',
      says: [
        ['means', title],
        ['status', String(status)],
        ...(said ? [['when', said.when] as [string, string], ['what to do', said.advice] as [string, string]] : []),
        ['all about it', 'docs/errors.md'],
      ],
    }
  })
}

/** The status codes of the answers, each with its error codes. */
export function statusCodes(): CatalogueEntry[] {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b)
  return statuses.map((status) => {
    const own = codes.filter((code) => ERRORS[code].status === status)
    return { id: String(status), is: 'status', says: own.map((code) => [code, ERRORS[code].title]) }
  })
}

/** Reads the tables of the page, whose columns are status, codes, when, and what a client does. */
function adviceIn(page: string): Map<string, Advice> {
  const rows = page.split('\n').map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  return new Map(
    rows.flatMap(([, , codes = '', when = '', then = '']) =>
      [...codes.matchAll(/`([a-z_]+)`/g)].map(([, code = '']): [string, Advice] => [
        code,
        { when: plain(when), advice: plain(then) },
      ]),
    ),
  )
}

/** Markdown as a terminal shows it: links by their text alone, code without backticks. */
function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replaceAll('\\|', '|')
}
