import { useState } from 'preact/hooks'
import { goTo } from '../model/address.ts'
import { Actions, Card } from '../parts/action-card.tsx'
import { Input } from '../parts/field.tsx'

/** Asks for the control token, where the sandbox needs it and no code came with the address. */
export function SignIn() {
  const [token, setToken] = useState('')
  const done = () => {
    // The control token of a namespace begins with its name, and opens nothing else.
    const [own, key] = token.split('.')
    if (key?.length === 22) goTo(undefined, own)
    location.reload()
    return ''
  }
  return (
    <main class="sign-in">
      <Card title="Control token">
        <p>
          This sandbox needs its control token, which start printed. It is sent once, and this browser keeps a session.
        </p>
        <Actions
          shown={false}
          actions={[{ label: 'Open', route: '/_sandbox/sessions', body: { token }, class: 'primary', done }]}
        >
          <Input isSecret label="Control token" value={token} set={setToken} />
        </Actions>
      </Card>
    </main>
  )
}
