import { OUTCOMES } from '../oracle/outcome.ts'
import type { Finding } from '../verdict/finding.ts'
import { findingInWords } from '../verdict/finding-in-words.ts'
import { FINDINGS } from '../verdict/findings/index.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** The rules that clients are judged by. */
export function findings(): CatalogueEntry[] {
  return FINDINGS.map((finding: Finding) => {
    const { id, ...words } = findingInWords(finding)
    const says = Object.entries(words).map(([name, text]): [string, string] => [name.replace('_', ' '), text])
    return { id, is: 'finding', says: [...says, ['all about it', 'docs/findings.md']] }
  })
}

/** What can become of an operation. */
export function outcomes(): CatalogueEntry[] {
  return Object.entries(OUTCOMES).map(([id, { title, level }]) => ({
    id,
    is: 'outcome',
    says: [
      ['means', title],
      ['level', level],
      ['all about it', 'docs/oracle.md'],
    ],
  }))
}
