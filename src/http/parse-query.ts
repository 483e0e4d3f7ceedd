/**
 * Query parameters as strings, a repeated one as a list (which no schema accepts), a whole `limit` as the number it is:
 * anything looser would let `1e1` pass for ten. Never throws: Fastify calls it outside of every error handler.
 */
export function parseQuery(query: string): Record<string, unknown> {
  const parameters: Record<string, unknown> = Object.create(null)
  if (query === '') return parameters
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = parameters[name]
    if (earlier === undefined) parameters[name] = name === 'limit' && /^\d{1,15}$/.test(value) ? Number(value) : value
    // Into the list that is there: a copy for every repetition takes a time that grows with their square.
    else if (Array.isArray(earlier)) earlier.push(value)
    else parameters[name] = [earlier, value]
  }
  return parameters
}
