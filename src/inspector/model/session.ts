import { signal } from '@preact/signals-core'
import { call } from './api.ts'

/** True if the sandbox needs its control token, and this browser has no session for it. */
export const needsToken = signal(false)

/** Begins a session with the one-time code of the address that `start` prints, if there is one, and takes it out of the address. */
export async function beginSession(): Promise<void> {
  const code = /^#code=([^&]+)/.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, '', location.pathname)
  // A code that was used or has expired: the page then asks for the token.
  await call('POST', '/_sandbox/sessions', { code }).catch(() => {})
}
