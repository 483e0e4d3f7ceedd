import { useState } from 'preact/hooks'
import { signIn } from '../model/session.ts'
import { Card, useAction } from '../parts/action-card.tsx'

/** Asks for the control token, where the sandbox needs it and no code came with the address. */
export function SignIn() {
  const [said, act] = useAction()
  const [token, setToken] = useState('')
  return (
    <main class="sign-in">
      <Card title="Control token" said={said}>
        <p>
          This sandbox needs its control token, which start printed. It is sent once, and this browser keeps a session.
        </p>
        <form
          class="row-of-buttons"
          onSubmit={(event) => {
            event.preventDefault()
            act(async () => {
              await signIn(token)
              return ''
            })
          }}
        >
          <input
            type="password"
            aria-label="Control token"
            autocomplete="off"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
          <button type="submit" class="button primary">
            Open
          </button>
        </form>
      </Card>
    </main>
  )
}
