import { useEffect } from 'preact/hooks'
import type { OperationAttempt, OperationDetail, ReportedFinding } from '../../control/contract.ts'
import { go, hrefOf, place } from '../model/address.ts'
import { operationName } from '../model/list-items.ts'
import { selectedRow } from '../model/rows.ts'
import { useRead } from '../model/use-read.ts'
import { Again } from '../parts/again.tsx'
import { Amount } from '../parts/amount.tsx'
import { ExchangeDetails } from '../parts/exchange-details.tsx'
import { Icon } from '../parts/icon.tsx'
import { Lane } from '../parts/lane.tsx'
import { MoneyBar } from '../parts/money-bar.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { OperationActions } from './operation-actions.tsx'

/** The operation that the address names, in order of need: what happened, the money, the attempts, the rule, what to do. */
export function OperationPanel() {
  const { selected } = place.value
  const number = selectedRow()?.number ?? (/^\d+$/.test(selected) ? Number(selected) : null)
  const { value: detail, error } = useRead<OperationDetail>(number === null ? null : `operations/${number}`, [
    'operations',
  ])
  const isRead = detail?.attempts.some(({ exchange }) => exchange.number === number)
  // An operation that belongs to the row of another one now: its address becomes that of the row.
  useEffect(() => {
    // Somebody may have gone on since this was drawn.
    if (detail && isRead && place.value.selected === String(number)) go({ selected: String(detail.number) }, true)
  }, [detail])
  if (number === null) return <p class="mute">There is no operation "{selected}" on record, or not any more.</p>
  if (!detail || !isRead) return <Waiting what={`operation ${number}`} error={error} />
  return (
    <>
      <Head detail={detail} />
      <p class={`say ${detail.tone}`}>{detail.sentence}</p>
      {detail.money && <MoneyBar {...detail.money} />}
      {detail.attempts.map((attempt, i) => (
        <Attempt key={attempt.exchange.request_id} attempt={attempt} ordinal={i + 1} before={detail.attempts[i - 1]} />
      ))}
      {detail.findings.map((finding) => (
        <BrokenRule key={finding.id} finding={finding} />
      ))}
      <OperationActions detail={detail} />
      {detail.attempts.map(({ exchange }, i) => (
        <ExchangeDetails key={exchange.request_id} exchange={exchange} title={`Attempt ${i + 1}: request and answer`} />
      ))}
    </>
  )
}

function Head({ detail }: { detail: OperationDetail }) {
  const { operation, amount_minor, token_decimals, token_symbol, external_id, tenant, pool_id, portfolio_name } = detail
  return (
    <header class="head">
      <h1>
        {operationName(operation)} <Amount minor={amount_minor} decimals={token_decimals} symbol={token_symbol} />
        <span class="mute">
          {external_id !== null && (
            <>
              {' · '}
              <a href={hrefOf('money', external_id)}>{external_id}</a>
            </>
          )}
          {tenant !== null && ` (${tenant})`}
          {pool_id !== null && ` → ${[portfolio_name, pool_id].filter(Boolean).join(', ')}`}
        </span>
      </h1>
      <span class={`pill ${detail.tone}`}>
        {detail.tone !== 'plain' && <Icon name={detail.tone} />} {detail.outcome}
      </span>
    </header>
  )
}

interface AttemptProps {
  attempt: OperationAttempt
  ordinal: number
  before: OperationAttempt | undefined
}

function Attempt({ attempt, ordinal, before }: AttemptProps) {
  const { exchange, steps } = attempt
  return (
    <section>
      {before && (
        <Again
          waited={attempt.waited_ms}
          same={attempt.same_key}
          keys={[before.exchange.idempotency?.key, exchange.idempotency?.key]}
        />
      )}
      <h2>
        Attempt {ordinal} <small class="mute">request {exchange.number}</small>
      </h2>
      <Lane steps={steps} linkOf={(hash) => hrefOf('chain', hash)} />
    </section>
  )
}

function BrokenRule({ finding }: { finding: ReportedFinding }) {
  return (
    <section class="two">
      <div>
        <h2>{finding.outcome === 'failed' ? 'Rule broken' : 'Rule to be looked at'}</h2>
        <p>
          <a href={hrefOf('verdict', finding.id)}>{finding.id}</a> <small class="mute">{finding.impact}</small>
        </p>
        <p class="mute">{finding.rule}</p>
      </div>
      <div>
        <h2>What to change</h2>
        <p>{finding.fix ?? finding.explanation}</p>
      </div>
    </section>
  )
}
