import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/**
 * Objects that a test notes while it uses them, to see which of them somebody still holds. `queryObjects` of `node:v8` would
 * find them by itself, at several seconds a time in a process that has run a hundred test files.
 */
export class Noted<T extends object> {
  readonly #refs: WeakRef<T>[] = []

  note(object: T): void {
    if (!this.#refs.some((ref) => ref.deref() === object)) this.#refs.push(new WeakRef(object))
  }

  /** How many were noted. */
  get size(): number {
    return this.#refs.length
  }

  /** How many are still held, after a garbage collection. */
  held(): number {
    collect()
    return this.#refs.filter((ref) => ref.deref() !== undefined).length
  }
}
