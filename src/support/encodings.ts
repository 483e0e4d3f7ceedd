/**
 * Decodes a text; undefined unless it is the one text that encodes its bytes (RFC 4648 §3.5). Node ignores whitespace, foreign
 * characters, missing or needless padding and unused bits: many texts would pass for the same bytes.
 */
export function decodeBase64(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : undefined
}

/** Decodes a form's value; both parts of HTTP Basic are encoded so (RFC 6749 §2.3.1). Undefined for a broken encoding. */
export function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** Maximum number of parameters of a query, and of fields of a form. */
export const MAX_PARAMETERS = 1000

/** @returns true if a query or form, still encoded, has more than {@link MAX_PARAMETERS} parameters */
export function hasTooManyParameters(encoded: string): boolean {
  return encoded.length > MAX_PARAMETERS && encoded.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS
}
