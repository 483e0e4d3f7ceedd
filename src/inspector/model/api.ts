import { namespace } from './address.ts'

/** An error answer of the control interface. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(detail)
  }
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

/** Calls a route of the namespace that is shown. Throws {@link ApiError}; `status` is 0 if nothing answers. */
export function call<T>(method: string, route: string, body?: unknown): Promise<T> {
  return send<T>(method, pathOf(route), body)
}

/** Calls any path of the sandbox's origin. Throws {@link ApiError}. */
export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(path, {
    method,
    cache: 'no-store',
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => {
    throw new ApiError(0, 'no_answer', 'The sandbox does not answer.')
  })
  const text = await answer.text()
  const value = parsed(text)
  if (answer.ok) return value as T
  const { code = `http_${answer.status}`, detail = text.slice(0, 200) } = (value ?? {}) as {
    code?: string
    detail?: string
  }
  throw new ApiError(answer.status, code, detail)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The command that makes the same call; where the sandbox needs its control token, add it as a header. */
export function curlOf(method: string, route: string, body?: unknown): string {
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method]), quoted(`${location.origin}${pathOf(route)}`)]
  if (body !== undefined) words.push('-H', quoted('content-type: application/json'), '-d', quoted(JSON.stringify(body)))
  return words.join(' ')
}

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
