import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { call, curlOf, pathOf } from '../model/api.ts'
import { CopyButton } from './copy-button.tsx'

/** A group of actions. */
export function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card stack" aria-label={title}>
      <h1>{title}</h1>
      {children}
    </section>
  )
}

/** A button, and the call that it makes. */
export interface Action {
  label: string
  /** Default: POST. */
  method?: string
  route: string
  body?: unknown
  /** How the button looks beside a plain one. */
  class?: 'primary' | 'danger'
  /** A question that must be answered with yes before. */
  ask?: string
  /** Takes the answer. @returns a sentence on what was done */
  done(answer: never): string
}

/** What a form of actions has. */
export interface ActionsProps {
  actions: readonly Action[]
  /** Stand above the buttons. */
  fields?: ComponentChildren
  /** False where the calls hold what must not be shown. */
  shown?: boolean
  /** Stand beside the buttons. */
  children?: ComponentChildren
}

/** Buttons, below them the calls that they make, to be copied, and a sentence about the last one. Enter in a field is the first button. */
export function Actions({ actions, fields, shown = true, children }: ActionsProps) {
  const [said, setSaid] = useState('')
  const run = ({ method = 'POST', route, body, ask, done }: Action) => {
    if (ask !== undefined && !confirm(ask)) return
    void call<never>(method, route, body).then(
      (answer) => setSaid(done(answer)),
      ({ message }: Error) => setSaid(message),
    )
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (actions[0]) run(actions[0])
      }}
    >
      {fields}
      <div class="row-of-buttons">
        {children}
        {actions.map((action, i) => (
          <button
            key={action.label}
            type={i === 0 ? 'submit' : 'button'}
            class={`button ${action.class ?? ''}`}
            onClick={() => i > 0 && run(action)}
          >
            {action.label}
          </button>
        ))}
      </div>
      {shown &&
        actions.map(({ label, method = 'POST', route, body }) => (
          <div key={label} class="api">
            <code>
              {method} {pathOf(route)}
              {body === undefined ? '' : ` ${JSON.stringify(body)}`}
            </code>
            <CopyButton text={curlOf(method, route, body)} label="curl" />
          </div>
        ))}
      <p role="status" class="mute">
        {said}
      </p>
    </form>
  )
}
