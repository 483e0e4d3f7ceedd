import { useState } from 'preact/hooks'
import { goTo } from '../model/address.ts'
import { Actions, Card } from '../parts/action-card.tsx'
import { Input } from '../parts/field.tsx'

/** The control token of a namespace begins with the name of the namespace, which is all that it opens. */
const OWN_TOKEN = /^([a-z0-9-]{1,63})\.[\w-]{22}$/

/** Asks for the control token, where the sandbox needs it and no code came with the address. */
export function SignIn() {
  const [token, setToken] = useState('')
  const done = () => {
    const [, own] = OWN_TOKEN.exec(token) ?? []
    if (own !== undefined) goTo(undefined, own)
    location.reload()
    return ''
  }
  return (
    <main class="sign-in">
      <Card title="Control token">
        <p>
          This sandbox needs its control token, which start printed, or that of a namespace, which opens that namespace
          alone. It is sent once, and this browser keeps a session.
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
