import { effect } from '@preact/signals-core'
import { render } from 'preact'
import { App, listen } from './app.tsx'
import { followAddress } from './model/address.ts'
import { browserTime } from './model/browser-time.ts'
import { followNamespace, headline } from './model/live.ts'
import { beginSession } from './model/session.ts'

/** Draws the page, and again after each change of a signal that it has read: a page is small, and most of it stays as it is. */
function draw(): void {
  let isDrawn = false
  const end = effect(() => {
    if (isDrawn) {
      // A signal may change while the page is drawn: Preact carries out the effects of the drawing before then.
      queueMicrotask(() => {
        end()
        draw()
      })
    } else render(<App />, document.body)
    isDrawn = true
  })
}

/** Milliseconds for which the page waits for its first rows: drawn without them, it has them a layout and a painting later. */
const PATIENCE_MS = 100

await beginSession()
followAddress()
listen()
followNamespace()
let wait = () => {}
await new Promise<void>((resolve) => {
  wait = effect(() => (headline.value ? resolve() : browserTime.after(PATIENCE_MS, resolve)))
})
wait()
draw()
