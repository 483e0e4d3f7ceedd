import { breathe } from '../support/breathe.ts'
import { type Collection, type CollectionShape, type Collections, SHAPES, type Store } from './ports/store.ts'

/**
 * Yields a scope's records page by page, in list order, including records put meanwhile behind the last page read. Other tasks run
 * between two pages.
 */
export async function* pagesOf<C extends Collection>(
  store: Store,
  collection: C,
  scope: string,
  limit = 1000,
): AsyncGenerator<Collections[C][]> {
  const shape: CollectionShape<Collections[C]> = SHAPES[collection]
  for (let more = true, position = {}; more; ) {
    const { items, has_next } = await store.page(collection, { scope, limit, ...position })
    const last = items.at(-1)
    if (!last || !shape.list) return
    yield items
    position = { after: shape.list.key(last) }
    more = has_next
    if (more) await breathe()
  }
}

/** All records of a scope; only for scopes small enough to hold in memory. */
export async function allOf<C extends Collection>(
  store: Store,
  collection: C,
  scope: string,
): Promise<Collections[C][]> {
  const all: Collections[C][] = []
  for await (const page of pagesOf(store, collection, scope)) all.push(...page)
  return all
}
