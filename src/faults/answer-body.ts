/** Parses the JSON of an answer; undefined when it is not JSON. */
export function parseBody(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? '')
  } catch {
    return undefined
  }
}

/** @returns true if a value is a JSON object */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** Replaces the code of an error body, and the type that ends in it. Returns any other body unchanged. */
export function withCode(body: Record<string, unknown>, code: string): Record<string, unknown> {
  if (!('code' in body)) return body
  // The type ends in the code, after a colon or a slash.
  const type = 'type' in body ? { type: String(body.type).replace(/[^:/]*$/, code) } : {}
  return { ...body, ...type, code }
}
