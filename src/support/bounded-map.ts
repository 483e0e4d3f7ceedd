/** A map that holds at most so many entries: the one set first makes room for a new one. */
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
