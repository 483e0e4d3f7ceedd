/** The browser's clock and timers, for the one place that may use each: tests of the page replace nothing else. */
export const browserTime = {
  /** Milliseconds since the Unix epoch. */
  now: (): number => Date.now(),
  /** Runs `work` once, after so many milliseconds. @returns a function that cancels it */
  after(milliseconds: number, work: () => void): () => void {
    const timer = setTimeout(work, milliseconds)
    return () => clearTimeout(timer)
  },
}
