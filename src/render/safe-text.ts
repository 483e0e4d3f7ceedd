import { shorten } from '../support/foreign-text.ts'

/** Maximum number of characters of one text: clients may have sent anything. */
const LONGEST = 2000

/** Controls, lone surrogates, characters that are invisible or change the direction of writing, and those that XML 1.0 cannot hold. */
const UNSEEN =
  /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ufdd0-\ufdef]|[\ufffe\uffff]/gu

/**
 * Text from outside as every form may show it, on one line: it cannot steer a terminal, end an XML document or change the
 * order of letters. Invisible characters are shown by their number: `\u{1b}`.
 */
export function plainText(text: string, longest = LONGEST): string {
  return shorten(text.replace(/\s+/g, ' ').replace(UNSEEN, visible), longest).replace(/\p{Cs}/gu, '')
}

/** Data with all its texts plain. Names of members stay. */
export function plainData<T>(data: T): T {
  const plain = (value: unknown): unknown => {
    if (typeof value === 'string') return plainText(value)
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
  }
  return plain(data) as T
}

function visible(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

/** Plain text for Markdown: it cannot form a link, a picture, HTML or a mention, and cannot end a table's cell. */
export function markdownEscaped(text: string): string {
  return plainText(text)
    .replace(/[\\`*_{}[\]<>()#|~@&!$]/g, '\\$&')
    .replace(/:\/\//g, '\\://')
    .replace(/www\./gi, (found) => found.replace('.', '\\.'))
}

/** A code span, whatever backticks the text holds. */
export function code(text: string): string {
  const plain = plainText(text)
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = plain.startsWith('`') || plain.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${plain}${pad}${fence}`
}

/** One complete element. */
export type XmlElement = `<${string}>`

/** Values by name; values may be from outside. */
export type Attributes = Record<string, string | number>

/** An element with text. The text must be plain already: its line ends stay. */
export function element(name: string, attributes: Attributes, text: string): XmlElement {
  return `<${name} ${attributesOf(attributes)}>${xmlEscaped(text)}</${name}>`
}

/** Attributes as a tag holds them. */
export function attributesOf(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}="${xmlEscaped(plainText(String(value)))}"`)
    .join(' ')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text with the five characters that XML and HTML reserve written as entities. */
export function xmlEscaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
