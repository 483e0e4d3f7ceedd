/** What was not read to its end has no id. */
const UNREAD: ReadonlySet<unknown> = new Set([-32700, -32600])

/** What is wrong with a JSON-RPC answer, single or batch; undefined if nothing is. `ids`: the only ones it may have, in JSON. */
export function rpcObjection(body: unknown, ids: readonly string[] | undefined): string | undefined {
  const answers: readonly unknown[] = Array.isArray(body) ? body : [body]
  if (answers.length === 0) return 'an empty batch'
  for (const answer of answers) {
    const { jsonrpc, id, error } = Object(answer) as Record<string, unknown>
    if (jsonrpc !== '2.0' || id === undefined) return 'no JSON-RPC 2.0'
    if ('result' in Object(answer) === 'error' in Object(answer)) return 'neither result nor error alone'
    const { code, message } = Object(error) as Record<string, unknown>
    if (error !== undefined && (!Number.isInteger(code) || typeof message !== 'string'))
      return 'an error without its form'
    if (id === null && UNREAD.has(code)) continue
    if (ids && !ids.includes(JSON.stringify(id))) return 'the answer has another id than the request'
  }
  return undefined
}
