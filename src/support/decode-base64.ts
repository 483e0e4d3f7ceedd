/**
 * The bytes a text stands for; undefined unless it is the one text that encodes them (RFC 4648 §3.5). Node ignores
 * whitespace, foreign characters, missing or needless padding and unused bits: many texts would pass for the same bytes.
 */
export function decodeBase64(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : undefined
}
