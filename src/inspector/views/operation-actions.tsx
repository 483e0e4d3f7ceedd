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
  const send = (withKey = key, body = exchange.request.body) => doing(() => sendAgain(detail, exchange, withKey, body))
  const doToNext = async () => {
    const [added] = await call<{ explanation: string }[]>('POST', 'faults', [again.fault])
    return `The next ${detail.operation}: ${added?.explanation}`
  }
  const actions: [words: string, work: (() => void) | 'edit' | 'scenario', letter?: string][] = [
    ['Send again', () => send(), 'r'],
    ...(key === undefined ? [] : [['Send with a new key', () => send(crypto.randomUUID())] as [string, () => void]]),
    ['Edit and send', 'edit'],
    [
      'Copy as curl',
      () => doing(async () => ((await copied(again.curl)) ? 'Copied as curl.' : 'This page may not copy.')),
      'c',
    ],
    ['Do this to the next one', () => doing(doToNext), 'f'],
    ['Make a scenario', 'scenario', 's'],
  ]
  return (
    <section class="actions" aria-label="Actions">
      <div class="row-of-buttons">
        {actions.map(([words, work, letter]) => (
          <button
            key={words}
            type="button"
            class={`button${letter === 'r' ? ' primary' : ''}`}
            data-key={letter}
            aria-expanded={typeof work === 'string' ? panel === work : undefined}
            onClick={typeof work === 'string' ? () => setPanel(panel === work ? '' : work) : work}
          >
            {words} {letter && <kbd>{letter}</kbd>}
          </button>
        ))}
      </div>
      <p role="status" class="mute">
        {said}
      </p>
      {panel === 'edit' && <Edit exchange={exchange} send={send} />}
      {panel === 'scenario' && <CopyBox label="Scenario file" text={again.scenario} />}
    </section>
  )
}

interface EditProps {
  exchange: ExplainedExchange
  send(key: string, body: string): void
}

function Edit({ exchange, send }: EditProps) {
  const [body, setBody] = useState(exchange.request.body ?? '')
  const [key, setKey] = useState(exchange.idempotency?.key ?? '')
  return (
    <form
      class="card stack"
      onSubmit={(event) => {
        event.preventDefault()
        send(key, body)
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

/** Sends a request again, with tokens that are minted now: those of the record are not kept. @returns a sentence on the answer */
async function sendAgain(
  { again: { path, headers, obstacle } }: OperationDetail,
  { tenant, external_id, request: { method } }: ExplainedExchange,
  key: string | undefined,
  body: string | null,
): Promise<string> {
  if (obstacle !== null) throw new Error(obstacle)
  const mint = async (kind: string, body: object) =>
    (await call<MintedToken>('POST', `tenants/${encodeURIComponent(tenant ?? '')}/${kind}`, body)).token
  const sent = new Headers(headers)
  sent.set('authorization', `Bearer ${await mint('idp_tokens', {})}`)
  if (external_id !== null) sent.set('x-user-token', await mint('user_tokens', { external_id }))
  if (key) sent.set('idempotency-key', key)
  return fetch(path, { method, headers: sent, cache: 'no-store', ...(body && { body }) }).then(
    ({ status }) => `Sent again: ${status}.`,
    () => 'Sent again; no answer came.',
  )
}
