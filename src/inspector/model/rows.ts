import { computed, signal } from '@preact/signals-core'
import type { OperationRow } from '../../control/contract.ts'
import { place } from './address.ts'

/** Every row that the page has, newest first. */
export const rows = signal<readonly OperationRow[]>([])

/** Takes new and changed rows, in any order. */
export function takeRows(taken: readonly OperationRow[]): void {
  if (taken.length === 0) return
  const all = new Map([...rows.value, ...taken].map((row) => [row.number, row]))
  rows.value = [...all.values()].sort((a, b) => b.number - a.number)
}

/** Forgets rows that are part of other ones now. */
export function dropRows(gone: readonly number[]): void {
  if (gone[0]) rows.value = rows.value.filter(({ number }) => !gone.includes(number)) // numbers begin at 1
}

/** Forgets rows below a number, those that move money below another one; without a number all. */
export function forgetRows(oldest: number | null, oldestMoney: number | null): void {
  rows.value = rows.value.filter(
    ({ number, moves_money }) => number >= ((moves_money ? oldestMoney : null) ?? oldest ?? Number.POSITIVE_INFINITY),
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
  const has = (ids: readonly string[]) => (wanted === 'any' ? ids.length > 0 : ids.includes(wanted))
  switch (name) {
    case 'text':
      return wanted
        .toLowerCase()
        .split(/\s+/)
        .every((word) => searchTextOf(row).includes(word))
    case 'operation':
      return row.operation === wanted
    case 'status':
      return String(row.status).startsWith(wanted.replace('xx', ''))
    case 'user':
      return row.external_id === wanted || `${row.tenant}/${row.external_id}` === wanted
    case 'fault':
      return has(row.faults)
    case 'finding':
      return has(row.finding_ids) || (wanted === 'any' && row.tone === 'bad')
  }
}

const texts = new WeakMap<OperationRow, string>()

/** Everything of a row that a person may look for, in lower case. */
function searchTextOf(row: OperationRow): string {
  const known = texts.get(row)
  if (known !== undefined) return known
  const text = Object.values(row).flat().join(' ').toLowerCase()
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
