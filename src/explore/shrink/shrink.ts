import type { PlannedStrike, RequestPosition } from '../exploration.ts'

/** The rest of a list after shrinking. */
export interface Shrunk<Item> {
  /** Needed items, in their order; at least one. */
  items: readonly Item[]
  /** Number of attempts. */
  runs: number
  /** True if every item is needed; false when the attempts were used up before that was known. */
  minimal: boolean
}

/** Options of the shrinking. */
export interface ShrinkWish<Item> {
  fails(items: readonly Item[]): Promise<boolean>
  /** Maximum number of attempts. */
  maxRuns: number
  /** Describes the rest as it stands after `without` was left out. Undefined when nothing moves. */
  moved?(left: readonly Item[], without: readonly Item[]): readonly Item[] | undefined
}

/**
 * Removes items that are not needed for the failure from a failing list: large parts first, single items at the end. Nothing is tried
 * twice. Delta debugging: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
 */
export async function shrink<Item>(items: readonly Item[], wish: ShrinkWish<Item>): Promise<Shrunk<Item>> {
  const { fails, maxRuns, moved } = wish
  const passed = new Set<string>()
  let left = items
  let runs = 0
  /** The first of these that fails; `undefined` for none, `stopped` when the attempts were used up before. */
  const failingOf = async (parts: readonly (readonly Item[])[]) => {
    for (const part of parts) {
      const name = JSON.stringify(part)
      // A failing part becomes the rest, and is never asked for again.
      if (passed.has(name)) continue
      if (runs >= maxRuns) return 'stopped'
      runs++
      if (await fails(part)) return part
      passed.add(name)
    }
    return undefined
  }
  for (let size = Math.ceil(left.length / 2); left.length > 1; size = Math.ceil(size / 2)) {
    const before = left.length
    for (let from = 0; from < left.length && left.length > 1; ) {
      const without = left.slice(from, from + size)
      const rest = left.filter((_, i) => i < from || i >= from + size)
      const found = await failingOf([rest, moved?.(rest, without) ?? []].filter(isSome))
      if (found === 'stopped') return { items: left, runs, minimal: false }
      if (found) left = found
      else from += size
    }
    // An item that was needed at first may not be once another one is gone: repeats until nothing changes.
    if (size === 1 && left.length === before) break
  }
  return { items: left, runs, minimal: true }
}

function isSome(list: readonly unknown[]): boolean {
  return list.length > 0
}

/**
 * Moves the strikes that are left when others are left out: a client that is not struck does not repeat its request, so each later
 * request of that operation and end user comes one earlier. Undefined when no strike moves.
 */
export function movedStrikes<H extends PlannedStrike>(
  left: readonly H[],
  without: readonly PlannedStrike[],
): readonly H[] | undefined {
  const moved = left.map((strike) => {
    const { position } = strike
    const earlier = without.filter((other) => comesBefore(other.position, position)).length
    return earlier === 0 ? strike : { ...strike, position: { ...position, ordinal: position.ordinal - earlier } }
  })
  return moved.some((strike, i) => strike !== left[i]) ? moved : undefined
}

function comesBefore(one: RequestPosition, other: RequestPosition): boolean {
  const of = ({ operation, tenant, external_id, end_user }: RequestPosition) =>
    JSON.stringify([operation, tenant, external_id, end_user])
  return of(one) === of(other) && one.ordinal < other.ordinal
}
