import { effect } from '@preact/signals-core'
import { render } from 'preact'
import { App, listen } from './app.tsx'
import { followAddress } from './model/address.ts'
import { followNamespace } from './model/live.ts'
import { beginSession } from './model/session.ts'

/** Draws the page, and again after each change of a signal that it has read: a page is small, and most of it stays as it is. */
function draw(): void {
  let isDrawn = false
  // A signal may change while the page is drawn: Preact carries out the effects of the drawing before then.
  function drawAgain(): void {
    end()
    draw()
  }
  const end = effect(() => {
    if (isDrawn) queueMicrotask(drawAgain)
    else render(<App />, document.body)
    isDrawn = true
  })
}

void beginSession().then(() => {
  followAddress()
  listen()
  followNamespace()
  draw()
})
