/** What is left of a list. */
export interface Shrunk<Item> {
  /** Those that are needed, in their order; one at least. */
  items: readonly Item[]
  /** How often it was tried. */
  runs: number
  /** Whether none of them can be left out; false when the runs were used up before that was known. */
  minimal: boolean
}

/**
 * Leaves out of a list that fails what is not needed for that: large parts first, one at a time at the end. What was tried once is not
 * tried again, and never more than `maxRuns` times. Delta debugging: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
 * Input", 2002.
 */
export async function shrink<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
  maxRuns: number,
): Promise<Shrunk<Item>> {
  const passed = new Set<string>()
  let left = items.map((item, at) => ({ item, at }))
  let runs = 0
  const failsStill = async (part: typeof left) => {
    const name = part.map(({ at }) => at).join()
    // What fails becomes what is left, and is never asked about again.
    if (passed.has(name)) return false
    runs++
    if (await fails(part.map(({ item }) => item))) return true
    passed.add(name)
    return false
  }
  for (let size = Math.ceil(left.length / 2); left.length > 1; size = Math.ceil(size / 2)) {
    const before = left.length
    for (let from = 0; from < left.length && left.length > 1; ) {
      if (runs >= maxRuns) return { items: left.map(({ item }) => item), runs, minimal: false }
      const rest = left.filter((_, i) => i < from || i >= from + size)
      if (rest.length > 0 && (await failsStill(rest))) left = rest
      else from += size
    }
    // One that could not be left out at first may be once another one is gone: until nothing changes any more.
    if (size === 1 && left.length === before) break
  }
  return { items: left.map(({ item }) => item), runs, minimal: true }
}
