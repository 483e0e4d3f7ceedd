/** Values that are made when they are asked for, and kept until so many others were asked for since. */
export class RecentlyUsed<Key, Value extends object> {
  readonly #most: number
  /** The least recently used first. */
  readonly #kept = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  /** The key's value, made anew if it is not kept. */
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
