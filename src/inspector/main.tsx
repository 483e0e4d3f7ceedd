import { render } from 'preact'
import { App } from './app.tsx'
import { followAddress } from './model/address.ts'
import { followNamespace } from './model/live.ts'
import { beginSession } from './model/session.ts'

void beginSession().then(() => {
  followAddress()
  followNamespace()
  render(<App />, document.body)
})
