/** What the JSON of an answer says; undefined when it is none. */
export function parseBody(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? '')
  } catch {
    return undefined
  }
}

/** @returns true if a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** An error body, problem or code alone, with another code. Any other body as it is. */
export function withCode(body: Record<string, unknown>, code: string): Record<string, unknown> {
  if (!('code' in body)) return body
  // The type ends in the code, after a colon or a slash.
  const type = 'type' in body ? { type: String(body.type).replace(/[^:/]*$/, code) } : {}
  return { ...body, ...type, code }
}
