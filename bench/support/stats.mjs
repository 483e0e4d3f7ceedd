/** The middle of the values; the mean of the two middle ones when their number is even. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * Medians of several measurements, taken in turns: whatever else the machine does meanwhile, it does to all of them.
 * `measurements` maps names to functions that measure once.
 */
export async function alternate(measurements, rounds) {
  const names = Object.keys(measurements)
  const values = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, so that none is always the one after the idle moment.
    for (const name of round % 2 === 0 ? names : names.toReversed()) values[name].push(await measurements[name](round))
  }
  return Object.fromEntries(names.map((name) => [name, median(values[name])]))
}

/** Milliseconds a task takes. */
export async function timed(task) {
  const begun = performance.now()
  await task()
  return performance.now() - begun
}
