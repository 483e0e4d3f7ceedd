import type { ExchangeLine } from '../../control/contract.ts'
import { hrefOf } from '../model/address.ts'
import { openedFile } from '../model/opened-file.ts'
import { Again, millisecondsInWords } from './again.tsx'
import { Lane, type LaneStep, shortKeyOf } from './lane.tsx'
import { onPaper } from './medium.ts'

/** Most exchanges that are shown for one finding or one run. */
const MOST = 8

/** Exchanges, a lane each, with the keys of neighbours compared. */
export function Exchanges({ lines }: { lines: readonly ExchangeLine[] }) {
  const left = lines.length - MOST
  return (
    <>
      {lines.slice(0, MOST).map((line, i) => (
        <Exchange key={line.request_id} line={line} earlier={lines.slice(0, i)} />
      ))}
      {left > 0 && <p class="mute">and {left} more</p>}
    </>
  )
}

function Exchange({ line, earlier }: { line: ExchangeLine; earlier: readonly ExchangeLine[] }) {
  const { request, request_id, request_body, shown_by, idempotency_key: key } = line
  const before = earlier.at(-1)
  const repeated = before !== undefined && asksTheSame(line, before)
  const comparable = repeated && key !== null && before.idempotency_key !== null
  return (
    <div class="exchange">
      {before && (
        <Again
          waited={Math.max(0, line.at_ms - before.at_ms - before.took_ms)}
          same={comparable ? key === before.idempotency_key : null}
          keys={[before.idempotency_key, key]}
          words={repeated ? 'sent again' : 'another request'}
        />
      )}
      <p class="label">
        <b>{request}</b> <Request id={request_id} />
        {shown_by !== null && (
          <small class="mute">
            {' '}
            the total that <Request id={shown_by} /> showed
          </small>
        )}
      </p>
      <Lane steps={stepsOf(line, earlier)} />
      {request_body !== null && (
        <details class="body">
          <summary>body</summary>
          <pre>{request_body}</pre>
        </details>
      )}
    </div>
  )
}

/** The id of a request; a link to its operation where that is live, and not in a file. */
export function Request({ id }: { id: string }) {
  return onPaper || openedFile.value ? (
    <small class="mute">{id}</small>
  ) : (
    <a class="id" href={hrefOf('operations', id)}>
      {id}
    </a>
  )
}

function asksTheSame(a: ExchangeLine, b: ExchangeLine): boolean {
  return a.request === b.request && (a.request_body === b.request_body || a.idempotency_key === b.idempotency_key)
}

function stepsOf(line: ExchangeLine, earlier: readonly ExchangeLine[]): LaneStep[] {
  const { answer, arrived, at_ms, took_ms, idempotency_key, fault, tx_hash } = line
  const step = (name: LaneStep['step'], tone: LaneStep['tone'], title: string, detail: string | null) => {
    return { step: name, tone, title, detail }
  }
  const key = idempotency_key === null ? '' : `, key ${shortKeyOf(idempotency_key)}`
  const isSecond = earlier.some((one) => one.tx_hash !== null && one.tx_hash !== tx_hash && asksTheSame(one, line))
  const end = `${answer} after ${millisecondsInWords(took_ms)}`
  const isGood = /^2/.test(answer)
  return [
    step('request', 'plain', 'Request', `+${millisecondsInWords(at_ms)}${key}`),
    ...(tx_hash === null
      ? []
      : [step('mined', isSecond ? 'bad' : 'plain', isSecond ? 'On the chain again' : 'On the chain', null)]),
    ...(fault === null ? [] : [step('waiting', 'warn', 'Fault', fault)]),
    arrived
      ? step(isGood ? 'answered' : 'refused', isGood ? 'ok' : 'plain', isGood ? 'Answered' : 'Refused', end)
      : step('lost', 'warn', 'Answer lost', end),
  ]
}
