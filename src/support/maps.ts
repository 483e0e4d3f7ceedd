/** Groups items by name, each group in the order given, as Map.groupBy of newer Nodes; items that `nameOf` names undefined are left out. */
export function grouped<Item, Name>(
  items: Iterable<Item>,
  nameOf: (item: Item) => Name | undefined,
): Map<Name, Item[]> {
  const groups = new Map<Name, Item[]>()
  for (const item of items) {
    const name = nameOf(item)
    if (name === undefined) continue
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  return groups
}

/** A map of at most `capacity` entries: a new entry evicts the one that was set first. */
export class BoundedMap<K, V> extends Map<K, V> {
  constructor(readonly capacity: number) {
    super()
  }

  override set(key: K, value: V): this {
    if (this.size >= this.capacity && !this.has(key)) {
      const oldest = this.keys().next()
      if (!oldest.done) this.delete(oldest.value)
    }
    return super.set(key, value)
  }
}

/** Values that are made on demand and kept until `most` others have been used since. */
export class RecentlyUsed<Key, Value extends object> {
  readonly #most: number
  /** Least recently used first. */
  readonly #kept = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  /** Returns the key's value; makes it if it is not kept. */
  use(key: Key, make: () => Value): Value {
    const value = this.#kept.get(key) ?? make()
    this.#kept.delete(key)
    this.#kept.set(key, value)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#most) break
      this.#kept.delete(oldest)
    }
    return value
  }

  forget(key: Key): void {
    this.#kept.delete(key)
  }

  clear(): void {
    this.#kept.clear()
  }
}
