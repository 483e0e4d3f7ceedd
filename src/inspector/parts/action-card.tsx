import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { curlOf, pathOf } from '../model/api.ts'
import { CopyButton } from './copy-button.tsx'

/** A group of actions, with a sentence about the last one. */
export function Card({ title, said, children }: { title: string; said?: string; children: ComponentChildren }) {
  return (
    <section class="card stack" aria-label={title}>
      <h1>{title}</h1>
      {children}
      <p role="status" class="mute">
        {said}
      </p>
    </section>
  )
}

/** The call that an action makes, to be copied. */
export function ApiCall({ method, route, body }: { method: string; route: string; body?: unknown }) {
  return (
    <div class="api">
      <code>
        {method} {pathOf(route)}
        {body === undefined ? '' : ` ${JSON.stringify(body)}`}
      </code>
      <CopyButton text={() => curlOf(method, route, body)} label="curl" />
    </div>
  )
}

/** The sentence about the last action of a card, and a way to do the next one. */
export function useAction(): [said: string, act: (work: () => Promise<string>) => void] {
  const [said, setSaid] = useState('')
  return [said, (work) => void work().then(setSaid, (error: Error) => setSaid(error.message))]
}
