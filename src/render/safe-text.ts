import { shorten } from '../support/foreign-text.ts'

/** Most characters of one text: clients may have sent anything. */
const LONGEST = 2000

/** Controls, half surrogates, what turns the direction of writing or is nothing to see, and what XML 1.0 cannot hold. */
const UNSEEN =
  /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ufdd0-\ufdef]|[\ufffe\uffff]/gu

/**
 * Text from outside as any form may show it, on one line: nothing in it steers a terminal, ends an XML document or changes the
 * order of letters. What cannot be seen is shown by its number: `\u{1b}`.
 */
export function plainText(text: string, longest = LONGEST): string {
  return shorten(text.replace(/\s+/g, ' ').replace(UNSEEN, visible), longest).replace(/\p{Cs}/gu, '')
}

function visible(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

/** Text that is nothing but text: no link, no picture, no HTML, no mention, and none of it ends a table's cell. */
export function markdownEscaped(text: string): string {
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

/** One element, whole. */
export type XmlElement = `<${string}>`

/** By name; values may be from outside. */
export type Attributes = Record<string, string | number>

/** An element with text, which has been made plain already: its lines are the sandbox's own. */
export function element(name: string, attributes: Attributes, text: string): XmlElement {
  return `<${name} ${attributesOf(attributes)}>${xmlEscaped(text)}</${name}>`
}

/** Attributes as they stand in a tag. */
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
