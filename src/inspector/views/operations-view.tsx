import { computed, signal } from '@preact/signals-core'
import { useRef, useState } from 'preact/hooks'
import type { OperationRow } from '../../control/contract.ts'
import { go, hrefOf, place } from '../model/address.ts'
import { movesIn, setKeys } from '../model/keys.ts'
import { counted } from '../model/levels.ts'
import { callsInWords, dayOf, type ListItem, listItems, operationName } from '../model/list-items.ts'
import { connection, headline, leftOut, readLeftOut } from '../model/live.ts'
import { FILTERS, filteredRows, rows, selectedRow } from '../model/rows.ts'
import { Amount } from '../parts/amount.tsx'
import { Icon } from '../parts/icon.tsx'
import { Split } from '../parts/split.tsx'
import { Strip } from '../parts/strip.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { FirstSteps } from './first-steps.tsx'
import { OperationPanel } from './operation-panel.tsx'

/** Height of every item of the list, in pixels. */
const ROW_HEIGHT = 34

/** All operations, newest first, and the one that is selected beside them. */
export function OperationsView() {
  if (connection.value === 'gone')
    return <Waiting what="" error={{ message: 'There is no such namespace any more.' }} />
  if (headline.value === null) return <Waiting what="the operations" />
  if (rows.value.length === 0) return <FirstSteps />
  return (
    <Split
      names={['Operations', 'Operation']}
      list={<OperationList />}
      hint="Choose an operation: its attempts, its money and its rules are shown here."
    >
      <OperationPanel />
    </Split>
  )
}

/** Folds that are open. */
const open = signal<ReadonlySet<number>>(new Set())
const shownItems = computed(() => listItems(filteredRows.value, open.value, selectedRow()))

function toggle({ key, rows: folded, open: isOpen }: ListItem & { kind: 'calls' }): void {
  const others = [...open.value].filter((one) => one !== key)
  open.value = new Set(isOpen ? others : [...others, key])
  if (folded.some((row) => row === selectedRow())) go({ selected: '' })
}

function OperationList() {
  const items = shownItems.value
  const filter = useRef<HTMLInputElement>(null)
  const [isAtTop, setAtTop] = useState(true)
  const seen = useRef(0)
  if (isAtTop) seen.current = rows.value[0]?.number ?? 0
  const fresh = rows.value.findIndex(({ number }) => number <= seen.current)
  const selected = selectedRow()
  const at = items.findIndex((item) => item.kind === 'row' && item.row === selected)
  setKeys({
    ...movesIn(
      () => items.flatMap((item) => (item.kind === 'row' ? [String(item.row.number)] : [])),
      selected && String(selected.number),
    ),
    Enter: () => document.getElementById('detail')?.focus(),
    '/': () => filter.current?.focus(),
  })
  return (
    <>
      <h1 class="sr">Operations</h1>
      <FilterBar input={filter} />
      {!isAtTop && fresh > 0 && (
        <button type="button" class="fresh" onClick={() => document.querySelector('.virtual')?.scrollTo(0, 0)}>
          {fresh} new ↑
        </button>
      )}
      {leftOut.value > 0 && (
        <button type="button" class="fresh" onClick={() => void readLeftOut()}>
          {leftOut.value.toLocaleString('en')} more came at once: show them
        </button>
      )}
      {items.length === 0 && <p class="pad mute">No operation passes the filter. Esc clears it.</p>}
      <VirtualList
        label="Operations, newest first"
        items={items}
        height={ROW_HEIGHT}
        keyOf={keyOfItem}
        shown={at}
        atTop={setAtTop}
        render={(item) => <Item item={item} selected={selected} />}
      />
    </>
  )
}

function keyOfItem(item: ListItem): string | number {
  if (item.kind === 'row') return item.row.number
  return item.kind === 'calls' ? `calls-${item.key}` : item.key
}

function Item({ item, selected }: { item: ListItem; selected: OperationRow | undefined }) {
  switch (item.kind) {
    case 'jump':
      return (
        <div class="jump">
          <b>{dayOf(item.date)}</b> {item.days === null ? 'start' : `clock moved on by ${wayInWords(item.days)}`}
        </div>
      )
    case 'calls':
      return (
        <button type="button" class="calls" aria-expanded={item.open} onClick={() => toggle(item)}>
          {item.open ? '▾' : '▸'} {item.rows.length} {item.rows.length === 1 ? 'call that moves' : 'calls that move'} no
          money <span>· {callsInWords(item.rows)}</span>
        </button>
      )
    case 'row':
      return <Row row={item.row} isSelected={item.row === selected} folded={item.folded} />
  }
}

function wayInWords(days: number): string {
  return days >= 1 ? counted(Math.round(days), 'day') : counted(Math.round(days * 24), 'hour')
}

/** Outcomes without any movement of money: their amount is struck through. */
const MOVED_NOTHING: readonly string[] = ['refused', 'put_off']

function Row({ row, isSelected, folded }: { row: OperationRow; isSelected: boolean; folded: boolean }) {
  const { number, tone, operation, amount_minor, token_decimals, external_id, tenant, outcome, outcomes } = row
  const movedNothing =
    outcomes.some((one) => MOVED_NOTHING.includes(one)) || row.marks.some(({ kind }) => kind === 'reverted')
  return (
    <a
      class={`row ${tone}${folded ? ' folded' : ''}`}
      href={hrefOf('operations', String(number))}
      aria-current={isSelected || undefined}
    >
      <span class="no">{number}</span>
      <span>{operationName(operation)}</span>
      <span class="am">
        <Amount minor={amount_minor} decimals={token_decimals} class={movedNothing ? 'not' : ''} most={6} />
      </span>
      <span class="who">
        {external_id ?? ''} <span class="mute">{tenant ?? ''}</span>
      </span>
      <Strip marks={row.marks} />
      <span class="out">
        {tone !== 'plain' && <Icon name={tone} />} {outcome}
      </span>
    </a>
  )
}

const CHIPS = { finding: 'Broken', fault: 'With a fault' }

function FilterBar({ input }: { input: { current: HTMLInputElement | null } }) {
  const { settings } = place.value
  const set = (changes: Record<string, string>) => go({ settings: { ...settings, ...changes } }, true)
  const others = FILTERS.filter((name) => name !== 'text' && settings[name] !== undefined && settings[name] !== 'any')
  return (
    <div class="bar">
      <input
        ref={input}
        type="search"
        placeholder="Filter: bob, 422, reverted …"
        aria-label="Filter"
        value={settings.text ?? ''}
        onInput={({ currentTarget }) => set({ text: currentTarget.value })}
      />
      {Object.entries(CHIPS).map(([name, label]) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-pressed={settings[name] === 'any'}
          onClick={() => set({ [name]: settings[name] === 'any' ? '' : 'any' })}
        >
          {label}
        </button>
      ))}
      {others.map((name) => (
        <button key={name} type="button" class="chip" aria-pressed onClick={() => set({ [name]: '' })}>
          {name}: {settings[name]} ×
        </button>
      ))}
    </div>
  )
}
