import { useState } from 'preact/hooks'
import type { TransactionDetail, TransactionPage, TransactionRow } from '../../control/contract.ts'
import { hrefOf, namespace, place } from '../model/address.ts'
import { call } from '../model/api.ts'
import { movesIn, setKeys } from '../model/keys.ts'
import { dayOf } from '../model/list-items.ts'
import { useRead } from '../model/use-read.ts'
import { CopyBox } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { shortHash } from '../parts/lane.tsx'
import { Split } from '../parts/split.tsx'
import { Waiting } from '../parts/waiting.tsx'

/** Transactions of one chain in words, newest first, and one of them beside. */
export function ChainView() {
  const { chain = '' } = place.value.settings
  return (
    <ChainOf key={`${namespace.value} ${chain}`} query={chain === '' ? '' : `chain_id=${encodeURIComponent(chain)}`} />
  )
}

function ChainOf({ query }: { query: string }) {
  const { value, error } = useRead<TransactionPage>(`transactions?${query}`, ['block'])
  const [older, setOlder] = useState<TransactionPage[]>([])
  const pages = value ? [value, ...older] : []
  const all = pages.flatMap(({ transactions }) => transactions)
  const rows = [...new Map(all.map((row) => [row.tx_hash, row])).values()]
  const { selected } = place.value

  setKeys(movesIn(() => rows.map(({ tx_hash }) => tx_hash), selected))
  if (!value) return <Waiting what="the chain" error={error} />
  const before = pages.at(-1)?.next_before ?? null
  const more = () => {
    void call<TransactionPage>('GET', `transactions?${query}&before=${before}`).then((page) =>
      setOlder([...older, page]),
    )
  }
  const list = (
    <>
      <h1 class="sr">Transactions</h1>
      <p class="bar mute">
        {value.chains.map(({ chain_id, block_number, at }) => (
          <a
            key={chain_id}
            class="chip"
            href={hrefOf('chain', '', { chain: chain_id })}
            aria-current={chain_id === value.chain_id || undefined}
          >
            Chain {chain_id}: block {block_number}, {dayOf(at)} {at.slice(11, 19)}
          </a>
        ))}
      </p>
      {(error || value.unavailable !== null) && <p class="pad warn">{error?.message ?? value.unavailable}</p>}
      <div class="scroll">
        {rows.length === 0 && <p class="pad mute">There is no transaction yet.</p>}
        {rows.map((row) => (
          <Transaction key={row.tx_hash} row={row} isSelected={row.tx_hash === selected} />
        ))}
        {before !== null && (
          <p class="pad">
            <button type="button" class="button" onClick={more}>
              Older ones
            </button>
          </p>
        )}
      </div>
    </>
  )
  return (
    <Split names={['Transactions', 'Transaction']} list={list} hint="Choose a transaction.">
      <TransactionPanel hash={selected} />
    </Split>
  )
}

const STATUS_ICONS: Record<TransactionRow['status'], IconName> = {
  success: 'block',
  reverted: 'reverted',
  pending: 'waiting',
}

function Transaction({ row, isSelected }: { row: TransactionRow; isSelected: boolean }) {
  const tone = row.status === 'reverted' ? 'warn' : 'plain'
  return (
    <a class={`row transaction ${tone}`} href={hrefOf('chain', row.tx_hash)} aria-current={isSelected || undefined}>
      <span class="no">{row.block_number ?? '…'}</span>
      <span>
        <Icon name={STATUS_ICONS[row.status]} /> {row.sentence}
      </span>
      <code class="mute">{shortHash(row.tx_hash)}</code>
    </a>
  )
}

function TransactionPanel({ hash }: { hash: string }) {
  const { value, error } = useRead<TransactionDetail>(`transactions/${encodeURIComponent(hash)}`, ['block'])
  if (!value || value.tx_hash !== hash) return <Waiting what="the transaction" error={error} />
  return (
    <>
      <header class="head">
        <h1>{value.sentence}</h1>
        <span class={`pill ${value.status === 'reverted' ? 'warn' : ''}`}>
          <Icon name={STATUS_ICONS[value.status]} /> {value.status}
        </span>
      </header>
      {value.operation_number !== null && (
        <p>
          Caused by{' '}
          <a href={hrefOf('operations', String(value.operation_number))}>operation {value.operation_number}</a>.
        </p>
      )}
      <Facts
        class="facts"
        facts={[
          ['Block', value.block_number === null ? 'not mined yet' : `${value.block_number}, ${value.at ?? ''}`],
          ['From', value.from],
          ['To', value.to ?? 'a new contract'],
          ['Nonce', value.nonce],
          ['Gas', value.gas_used === null ? `limit ${value.gas_limit}` : `${value.gas_used} of ${value.gas_limit}`],
          ['Call', value.call],
          ['Reverted', value.revert_reason],
        ]}
      />
      <h2>Events</h2>
      {value.events.length === 0 && <p class="mute">There is none.</p>}
      <ol class="plain">
        {value.events.map((event, i) => (
          <li key={i}>
            {event.sentence}{' '}
            <small class="mute" title={event.address}>
              {event.contract}
            </small>
          </li>
        ))}
      </ol>
      <details>
        <summary>Input data</summary>
        <CopyBox label="Input data" text={value.input} />
      </details>
      <CopyBox label="Hash" text={value.tx_hash} />
    </>
  )
}
