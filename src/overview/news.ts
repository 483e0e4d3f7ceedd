/** Passes on, to all who listen, that something has changed. It costs nothing while nobody does. */
export class News {
  readonly #listeners = new Set<() => void>()

  /** Calls back for each change from now on. Returns the unsubscriber. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
