import type { Collection, Collections, Store } from './ports/store.ts'

/** A record that the ledger must hold. Throws an Error when it does not. */
export async function requireRecord<C extends Collection>(
  store: Store,
  collection: C,
  id: string,
): Promise<Collections[C]> {
  const record = await store.get(collection, id)
  if (!record) throw new Error(`there is no ${id} in ${collection}`)
  return record
}
