import { type Collection, type CollectionShape, type Collections, SHAPES } from '../domain/ports/store.ts'
import { Table } from './table.ts'

/** A record of any collection. */
export type AnyRecord = Collections[Collection]

/** The table of each collection. */
export type Tables = Record<Collection, Table<AnyRecord>>

export const COLLECTIONS = Object.keys(SHAPES) as Collection[]

export function emptyTables(): Tables {
  const shapes = SHAPES as unknown as Record<Collection, CollectionShape<AnyRecord>>
  return Object.fromEntries(COLLECTIONS.map((name) => [name, new Table(name, shapes[name])])) as Tables
}
