import { useState } from 'preact/hooks'
import type { ExplainedExchange, MintedToken, OperationDetail } from '../../control/contract.ts'
import { call } from '../model/api.ts'
import { CopyBox, copied } from '../parts/copy-button.tsx'
import { Field } from '../parts/field.tsx'

/** What can be done with an operation: send it again, copy it, do its fault to the next one, make a scenario. */
export function OperationActions({ detail }: { detail: OperationDetail }) {
  const [said, setSaid] = useState('')
  const [panel, setPanel] = useState('')
  const exchange = detail.attempts.at(-1)?.exchange
  if (!exchange) return null
  const { again } = detail
  const doing = (work: () => Promise<string>) => {
    void work().then(setSaid, (error: Error) => setSaid(error.message))
  }
  const key = exchange.idempotency?.key
  const send = (withKey = key, body = exchange.request.body) =>
    doing(async () => {
      const status = await sendAgain(detail, exchange, withKey, body)
      return status === 0 ? 'Sent again; no answer came.' : `Sent again: ${status}.`
    })
  const doToNext = async () => {
    const [added] = await call<{ explanation: string }[]>('POST', 'faults', [again.fault])
    return `The next ${detail.operation}: ${added?.explanation}`
  }
  const actions: [words: string, work: () => void, letter?: string, opens?: string][] = [
    ['Send again', () => send(), 'r'],
    ...(key === undefined ? [] : [['Send with a new key', () => send(crypto.randomUUID())] as [string, () => void]]),
    ['Edit and send', () => setPanel(panel === 'edit' ? '' : 'edit'), '', 'edit'],
    [
      'Copy as curl',
      () => doing(async () => ((await copied(again.curl)) ? 'Copied as curl.' : 'This page may not copy.')),
      'c',
    ],
    ['Do this to the next one', () => doing(doToNext), 'f'],
    ['Make a scenario', () => setPanel(panel === 'scenario' ? '' : 'scenario'), 's', 'scenario'],
  ]
  return (
    <section class="actions" aria-label="Actions">
      <div class="row-of-buttons">
        {actions.map(([words, work, letter, opens]) => (
          <button
            key={words}
            type="button"
            class={`button${letter === 'r' ? ' primary' : ''}`}
            data-key={letter}
            aria-expanded={opens ? panel === opens : undefined}
            onClick={work}
          >
            {words} {letter && <kbd>{letter}</kbd>}
          </button>
        ))}
      </div>
      <p role="status" class="mute">
        {said}
      </p>
      {panel === 'edit' && <Edit body={exchange.request.body ?? ''} idempotencyKey={key ?? ''} send={send} />}
      {panel === 'scenario' && <CopyBox label="Scenario file" text={again.scenario} />}
    </section>
  )
}

interface EditProps {
  body: string
  idempotencyKey: string
  send(key: string, body: string): void
}

function Edit(props: EditProps) {
  const [body, setBody] = useState(props.body)
  const [key, setKey] = useState(props.idempotencyKey)
  return (
    <form
      class="card stack"
      onSubmit={(event) => {
        event.preventDefault()
        props.send(key, body)
      }}
    >
      <label>
        Body
        <textarea rows={5} value={body} onInput={({ currentTarget }) => setBody(currentTarget.value)} />
      </label>
      <Field label="Idempotency-Key" value={key} set={setKey} />
      <button type="submit" class="button primary">
        Send
      </button>
    </form>
  )
}

/** Tokens for the tenant and end user of an exchange, minted now: those of the record are not kept. */
async function freshTokens({ tenant, external_id }: ExplainedExchange): Promise<Record<string, string>> {
  const mint = (kind: string, body: object) =>
    call<MintedToken>('POST', `tenants/${encodeURIComponent(tenant ?? '')}/${kind}`, body)
  const idp = await mint('idp_tokens', {})
  const user = external_id === null ? null : await mint('user_tokens', { external_id })
  return { authorization: `Bearer ${idp.token}`, ...(user && { 'x-user-token': user.token }) }
}

/** Sends a request again, with fresh tokens. @returns its status; 0 for no answer */
async function sendAgain(
  { again: { path, headers, obstacle } }: OperationDetail,
  exchange: ExplainedExchange,
  key: string | undefined,
  body: string | null,
): Promise<number> {
  if (obstacle !== null) throw new Error(obstacle)
  const sent = new Headers(headers)
  for (const [name, value] of Object.entries(await freshTokens(exchange))) sent.set(name, value)
  if (key) sent.set('idempotency-key', key)
  const { method } = exchange.request
  return fetch(path, { method, headers: sent, cache: 'no-store', ...(body && { body }) }).then(
    ({ status }) => status,
    () => 0,
  )
}
