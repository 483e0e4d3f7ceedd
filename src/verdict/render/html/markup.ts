import { plainText } from '../plain-text.ts'

/** HTML that is safe to put into a page. */
export class Markup {
  constructor(readonly text: string) {}
}

/** What a template takes: text is escaped, markup is not, nothing is left out. */
export type Part = Markup | string | number | undefined | null | false | readonly Part[]

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** A template whose parts are escaped, for elements and for attributes in quotation marks. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.map((string, i) => string + (i < parts.length ? textOf(parts[i]) : '')).join(''))
}

/** Of the sandbox itself: nothing in it is from outside. */
export function raw(text: string): Markup {
  return new Markup(text)
}

function textOf(part: Part): string {
  if (part === undefined || part === null || part === false) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return plainText(String(part)).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
