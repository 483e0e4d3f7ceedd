/**
 * The bytes a text stands for; undefined unless it is the one text that encodes them (RFC 4648 §3.5). Node ignores
 * whitespace, foreign characters, missing or needless padding and unused bits: many texts would pass for the same bytes.
 */
export function decodeBase64(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : undefined
}

/** The text that a form's value encodes, as both parts of HTTP Basic are (RFC 6749 §2.3.1); undefined when it encodes none. */
export function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** Most parameters a query may have, and most fields a form. */
export const MAX_PARAMETERS = 1000

/** @returns true if a query or form, as it stands in the request, holds more than {@link MAX_PARAMETERS}. */
export function hasTooManyParameters(encoded: string): boolean {
  return encoded.length > MAX_PARAMETERS && encoded.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS
}
