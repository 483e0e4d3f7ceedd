import type { Verdict } from '../report.ts'
import { plainText } from './plain-text.ts'

/** What a verdict looks like in a heading. */
export const VERDICT_SIGNS: Record<Verdict, string> = { passed: '✅', failed: '❌', inconclusive: '⚠️' }

/** Text that is nothing but text: no link, no picture, no HTML, no mention, and none of it ends a table's cell. */
export function escaped(text: string): string {
  return plainText(text)
    .replace(/[\\`*_{}[\]<>()#|~@&!$]/g, '\\$&')
    .replace(/:\/\//g, '\\://')
    .replace(/www\./gi, (found) => found.replace('.', '\\.'))
}

/** A code span, whatever backticks there are in it. */
export function code(text: string): string {
  const plain = plainText(text)
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = plain.startsWith('`') || plain.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${plain}${pad}${fence}`
}
