import { useEffect, useState } from 'preact/hooks'
import { namespace } from './address.ts'
import { type ApiError, call, send } from './api.ts'
import { versions } from './live.ts'

/** The answer of a route: at first nothing, then the value or the error; the last value stays while it is read again. */
export interface Reading<T> {
  value?: T
  error?: ApiError
  /** Reads again now. */
  again(): void
}

/**
 * Reads a route of the namespace that is shown, or a path that begins with `/`, and again whenever one of `changes` happens.
 * `null` reads nothing.
 */
export function useRead<T>(route: string | null, ...changes: (keyof typeof versions)[]): Reading<T> {
  const [state, setState] = useState<{ value?: T; error?: ApiError }>({})
  const [asked, setAsked] = useState(0)
  const version = changes.map((name) => versions[name].value).join()
  useEffect(() => {
    if (route === null) return
    let isOver = false
    const read = route.startsWith('/') ? send<T>('GET', route) : call<T>('GET', route)
    read.then(
      (value) => isOver || setState({ value }),
      (error: ApiError) => isOver || setState((old) => ({ ...old, error })),
    )
    return () => {
      isOver = true
    }
  }, [route, namespace.value, version, asked])
  return { ...state, again: () => setAsked((count) => count + 1) }
}
