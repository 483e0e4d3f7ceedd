import { computed, signal } from '@preact/signals-core'
import type { OperationRow } from '../../control/contract.ts'
import { place } from './address.ts'

/** Every row that the page has, newest first. */
export const rows = signal<readonly OperationRow[]>([])

/** Number of rows that the sandbox has; more than {@link rows} while older ones are being read. */
export const total = signal(0)

/** Takes new and changed rows, in any order. */
export function takeRows(taken: readonly OperationRow[]): void {
  if (taken.length === 0) return
  const newer = new Map(taken.map((row) => [row.number, row]))
  const kept = rows.value.map((row) => {
    const changed = newer.get(row.number)
    if (changed) newer.delete(row.number)
    return changed ?? row
  })
  if (newer.size === 0) {
    rows.value = kept
    return
  }
  const added = [...newer.values()].sort((a, b) => b.number - a.number)
  const isNewest = (added.at(-1)?.number ?? 0) > (kept[0]?.number ?? 0)
  rows.value = isNewest ? [...added, ...kept] : [...added, ...kept].sort((a, b) => b.number - a.number)
}

/** Forgets rows that are part of other ones now. */
export function dropRows(gone: readonly number[]): void {
  if (gone.length > 0) rows.value = rows.value.filter(({ number }) => !gone.includes(number))
}

/** Forgets rows below a number, those that move money below another one; without a number all. */
export function forgetRows(oldest: number | null, oldestMoney: number | null): void {
  if (oldest === null) rows.value = []
  else
    rows.value = rows.value.filter(({ number, moves_money }) =>
      moves_money ? number >= (oldestMoney ?? oldest) : number >= oldest,
    )
}

/** Names of the filters, as they stand in the address. */
export const FILTERS = ['text', 'operation', 'status', 'user', 'fault', 'finding'] as const

/** Name of a filter. */
export type FilterName = (typeof FILTERS)[number]

/** Rows that all filters of the address let pass, newest first. */
export const filteredRows = computed(() => {
  const { settings } = place.value
  const tests = FILTERS.flatMap((name) => {
    const wanted = settings[name]
    return wanted === undefined ? [] : [(row: OperationRow) => passes(row, name, wanted)]
  })
  return tests.length === 0 ? rows.value : rows.value.filter((row) => tests.every((test) => test(row)))
})

/** @returns true if the filter lets a row pass */
export function passes(row: OperationRow, name: FilterName, wanted: string): boolean {
  switch (name) {
    case 'text':
      return wanted
        .toLowerCase()
        .split(/\s+/)
        .every((word) => searchTextOf(row).includes(word))
    case 'operation':
      return row.operation === wanted
    case 'status':
      return wanted.endsWith('xx') ? String(row.status).startsWith(wanted.slice(0, 1)) : String(row.status) === wanted
    case 'user':
      return row.external_id === wanted || `${row.tenant}/${row.external_id}` === wanted
    case 'fault':
      return wanted === 'any' ? row.faults.length > 0 : row.faults.includes(wanted)
    case 'finding':
      return wanted === 'any' ? row.finding_ids.length > 0 || row.tone === 'bad' : row.finding_ids.includes(wanted)
  }
}

const texts = new WeakMap<OperationRow, string>()

/** Everything of a row that a person may look for, in lower case. */
function searchTextOf(row: OperationRow): string {
  const known = texts.get(row)
  if (known !== undefined) return known
  const { number, operation, tenant, external_id, portfolio_id, portfolio_name, pool_id, keys, outcome, sentence } = row
  const words = [number, operation, tenant, external_id, portfolio_id, portfolio_name, pool_id, ...keys, outcome]
  const more = [sentence, ...row.finding_ids, ...row.faults, row.status, row.code, ...row.request_ids, row.amount_minor]
  const text = [...words, ...more].join(' ').toLowerCase()
  texts.set(row, text)
  return text
}

/** The row that the address names: by number, by the id of one of its requests, or `latest`. */
export function selectedRow(): OperationRow | undefined {
  const { selected } = place.value
  if (selected === '') return undefined
  if (selected === 'latest') return rows.value[0]
  return rows.value.find(({ number, request_ids }) => String(number) === selected || request_ids.includes(selected))
}
