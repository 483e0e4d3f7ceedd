import { namespace } from './address.ts'

/** An error answer of the control interface; the status is 0 if nothing answers. */
export type ApiError = Error & { status: number }

function apiError(status: number, detail: string): ApiError {
  return Object.assign(new Error(detail), { status })
}

/**
 * Path of a route of the control interface, for the namespace that is shown: `clock` → `/_sandbox/namespaces/alice/clock`. A path that
 * begins with `/` is one already.
 */
export function pathOf(route: string): string {
  if (route.startsWith('/')) return route
  const name = namespace.value
  return name === 'default' ? `/_sandbox/${route}` : `/_sandbox/namespaces/${encodeURIComponent(name)}/${route}`
}

/** Calls a route of the namespace that is shown, or a path. Throws an {@link ApiError}. */
export function call<T>(method: string, route: string, body?: unknown): Promise<T> {
  return received(
    fetch(pathOf(route), {
      method,
      cache: 'no-store',
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }),
  )
}

/** Reads an answer. Throws an {@link ApiError}. */
export async function received<T>(asked: Promise<Response>): Promise<T> {
  const answer = await asked.catch(() => {
    throw apiError(0, 'The sandbox does not answer.')
  })
  const text = await answer.text()
  const value = jsonOf(text)
  if (answer.ok) return value as T
  throw apiError(answer.status, (value as { detail?: string } | undefined)?.detail ?? text.slice(0, 200))
}

/** The value of JSON; `otherwise` for any other text. */
export function jsonOf(text: string, otherwise?: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return otherwise
  }
}

/** The command that makes the same call; where the sandbox needs its control token, add it as a header. */
export function curlOf(method: string, route: string, body?: unknown): string {
  const sent = body === undefined ? '' : ` -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}`
  return `curl -X ${method} ${quoted(location.origin + pathOf(route))}${sent}`
}

/** A word for a POSIX shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
