/** The object that a text is as JSON; undefined when it is none. */
export function jsonObject(text: string | null | undefined): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(text ?? '')
    return read !== null && typeof read === 'object' && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
