import { setMaxListeners } from 'node:events'

/** An AbortController that any number of waiting requests may listen to: that many listeners are no leak. */
export function abortController(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
