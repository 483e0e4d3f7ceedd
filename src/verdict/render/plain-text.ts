import { shorten } from '../../support/shorten.ts'

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
