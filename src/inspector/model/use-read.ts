import { useEffect, useRef, useState } from 'preact/hooks'
import { namespace } from './address.ts'
import { type ApiError, call } from './api.ts'
import { browserTime } from './browser-time.ts'
import { versions } from './live.ts'

/** The answer of a route: at first nothing, then the value or the error; the last value stays while it is read again. */
export interface Reading<T> {
  value?: T
  error?: ApiError
  /** Reads again now. */
  again(): void
}

/** Least time between two readings that nobody asked for, in milliseconds, and how many times as long as the last one took it is at least. */
const LEAST_PAUSE_MS = 1000
const PAUSE_TIMES = 10
/** What is shown is never older, however long a reading takes on a busy machine. */
const MOST_PAUSE_MS = 9000

/**
 * Reads a route of the namespace that is shown, or a path that begins with `/`, and again whenever one of `changes` happens, though not
 * faster than the sandbox can answer easily. `null` reads nothing; what needs a `body` is asked by POST.
 */
export function useRead<T>(route: string | null, changes: (keyof typeof versions)[] = [], body?: unknown): Reading<T> {
  const [state, setState] = useState<{ value?: T; error?: ApiError }>({})
  const [asked, setAsked] = useState(0)
  const version = changes.map((name) => versions[name].value).join()
  const wish = `${namespace.value} ${route} ${asked} ${JSON.stringify(body)}`
  const last = useRef({ wish: '', pauseUntil: 0 })
  useEffect(() => {
    if (route === null) return
    let isOver = false
    const read = () => {
      const began = browserTime.now()
      call<T>(body ? 'POST' : 'GET', route, body)
        .then(
          (value) => isOver || setState({ value }),
          (error: ApiError) => isOver || setState((old) => ({ ...old, error })),
        )
        .finally(() => {
          const now = browserTime.now()
          last.current.pauseUntil = now + Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, PAUSE_TIMES * (now - began)))
        })
    }
    const wait = last.current.wish === wish ? last.current.pauseUntil - browserTime.now() : 0
    last.current.wish = wish
    const cancel = browserTime.after(Math.max(0, wait), read)
    return () => {
      isOver = true
      cancel()
    }
  }, [wish, version])
  return { ...state, again: () => setAsked((count) => count + 1) }
}
