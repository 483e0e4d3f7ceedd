/** The text that a form's value encodes, as both parts of HTTP Basic are (RFC 6749 §2.3.1); undefined when it encodes none. */
export function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
