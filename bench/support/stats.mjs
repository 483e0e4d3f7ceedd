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

/** The value that so much of all is not above: 0.99 for the 99th percentile. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** Runs a task so many times, `width` at once; it is given its number. */
export async function times(count, width, task) {
  let next = 0
  const work = async () => {
    while (next < count) await task(next++)
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, work))
}
