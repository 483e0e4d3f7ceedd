import type { SortKey } from '../domain/ports/store.ts'

/** A record in its place. */
export interface Stored<T> {
  readonly record: T
  /** How many records the store had put for the first time when it put this one. */
  readonly sequence: number
  /** The ordered list it stands in, and where. */
  readonly scope: string
  readonly key: SortKey
}
