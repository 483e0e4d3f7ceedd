import { type PageQuery, SHAPES } from '../../src/domain/ports/store.ts'
import type { EndUser, IdempotencyRecord, Transaction } from '../../src/domain/records.ts'

type Row = Transaction | EndUser | IdempotencyRecord

/** The port's meaning in the plainest words: an array, sorted and filtered anew at every read. */
export class Model {
  sequence = 0
  rows: { record: Row; sequence: number }[] = []

  put(record: Row): void {
    const known = this.rows.find((row) => row.record.id === record.id)
    if (known) known.record = record
    else this.rows.push({ record, sequence: ++this.sequence })
  }

  remove(id: string): void {
    this.rows = this.rows.filter((row) => row.record.id !== id)
  }

  page(
    collection: 'transactions' | 'end_users' | 'idempotency_keys',
    { scope, limit, after, before, up_to = Infinity }: PageQuery,
  ) {
    const { list } = SHAPES[collection]
    const keyOf = (record: unknown) => list!.key(record as never)
    const sign = list!.order === 'asc' ? 1 : -1
    const compare = (a: readonly string[], b: readonly string[]) => sign * Buffer.compare(bytes(a), bytes(b))
    const all = this.rows
      .filter((row) => list!.scope(row.record as never) === scope)
      .sort((a, b) => compare(keyOf(a.record), keyOf(b.record)))
    const known = all.filter((row) => row.sequence <= up_to)
    const items = before
      ? known.filter((row) => compare(keyOf(row.record), before) < 0).slice(-limit)
      : known.filter((row) => !after || compare(keyOf(row.record), after) > 0).slice(0, limit)
    // The gap an empty page stands for.
    const gap = all.filter((row) =>
      before ? compare(keyOf(row.record), before) < 0 : after !== undefined && compare(keyOf(row.record), after) <= 0,
    ).length
    const first = items[0] ? all.indexOf(items[0]) : gap
    const end = items[0] ? all.indexOf(items.at(-1)!) + 1 : gap
    return { items: items.map((row) => row.record), has_previous: first > 0, has_next: end < all.length }
  }
}

/** Keys of the samples hold ASCII and have two members of one length each: joined, they sort as they should. */
const bytes = (key: readonly string[]) => Buffer.from(key.join('\0'))
