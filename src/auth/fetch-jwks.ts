import { readBody } from '../support/read-body.ts'

const MAX_BYTES = 1024 * 1024

/**
 * Fetches a JSON Web Key Set and returns its keys, unchecked. Throws an Error whose message says what was wrong: the
 * server unreachable or slower than `timeout` milliseconds, a redirect, a status other than 200, over 1 MiB, no key set.
 * The message never holds the URI, which may hold a secret.
 */
export async function fetchJwks(uri: string, timeout: number): Promise<unknown[]> {
  const headers = { accept: 'application/jwk-set+json, application/json' }
  try {
    const response = await fetch(uri, { headers, redirect: 'error', signal: AbortSignal.timeout(timeout) })
    if (response.status === 200) return readKeys(await readBody(response.body, MAX_BYTES))
    await response.body?.cancel()
    throw new Error(`status ${response.status}`)
  } catch (error) {
    throw new Error(reasonOf(error).replaceAll(uri, 'the URL'))
  }
}

function readKeys(body: string): unknown[] {
  const set: unknown = JSON.parse(body)
  if (typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys)) return set.keys
  throw new Error('no JSON Web Key Set')
}

/** fetch says "fetch failed"; what helps stands in the cause, for several addresses only as its code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'no answer in time'
  if (error instanceof SyntaxError) return 'not JSON'
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message || ('code' in cause ? String(cause.code) : error.message)
}
