import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from '../package-root.ts'
import { visibleText } from '../support/foreign-text.ts'
import { plainData } from './safe-text.ts'

/** What a page can be made of. */
export type DocumentKind = 'report' | 'exploration' | 'certificate'

/** What `src/inspector/documents/` exports: the components of the inspector, rendered to text. */
interface Documents {
  /** @returns a self-contained page that shows `shown` and holds `data`, which is JSON */
  documentPage(kind: DocumentKind, shown: unknown, data: string): string
}

/** Built from `src/inspector/documents/`. A file of its own, since Preact is in it, which nothing else needs. */
const BUILT = fileURLToPath(new URL('dist/inspector/documents.js', PACKAGE_ROOT))

/**
 * Renders a self-contained page of the data that the JSON form has: no network, no script. The page holds the data, so that the inspector
 * can show it again. The same data gives the same bytes. `exact`: the page holds the data as it is, and not as it is shown.
 */
export function documentPage(kind: DocumentKind, data: object, { exact = false } = {}): string {
  // Loaded on demand: most runs write no page.
  const documents = createRequire(import.meta.url)(BUILT) as Documents
  const shown = shareable(plainData(data))
  return documents.documentPage(kind, shown, embeddable(exact ? data : shown))
}

/** JSON as a script element may hold it: nothing in it ends the element. */
function embeddable(data: object): string {
  return visibleText(JSON.stringify(data)).replaceAll('<', '\\u003c')
}

/** Members that are commands or files, as somebody typed them. */
const TYPED = new Set(['command', 'exercise_with', 'file', 'flags', 'repeat', 'again'])

/** Paths below somebody's home folder, on any system: the page is the same wherever it is made. */
const HOME = /(?<=^|[\s'"=:])(?:\/(?:home|Users)\/[^\s/'":]+|\/root|[A-Za-z]:\\Users\\[^\s\\'":]+)(?=[/\\]|$)/g

/** Data without the name of anybody's home folder, since pages are passed on: commands and files begin with `~` there. */
function shareable<T>(data: T): T {
  const share = (value: unknown, isTyped: boolean): unknown => {
    if (typeof value === 'string') return isTyped ? value.replace(HOME, '~') : value
    if (Array.isArray(value)) return value.map((member) => share(member, isTyped))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, share(member, isTyped || TYPED.has(name))]),
    )
  }
  return share(data, false) as T
}
