import { plainText } from './plain-text.ts'

/** One element, whole. */
export type XmlElement = `<${string}>`

/** By name; values may be from outside. */
export type Attributes = Record<string, string | number>

/** An element with text, which has been made plain already: its lines are the sandbox's own. */
export function element(name: string, attributes: Attributes, text: string): XmlElement {
  return `<${name} ${attributesOf(attributes)}>${escaped(text)}</${name}>`
}

/** Attributes as they stand in a tag. */
export function attributesOf(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}="${escaped(plainText(String(value)))}"`)
    .join(' ')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
