import { parseDurationRange } from '../support/quantities.ts'
import type { Strike } from './fault-kind.ts'

/**
 * Waits on the sandbox clock, for a duration or one drawn from a range; no longer than until the fault is released, or any
 * of the signals given is aborted.
 */
export async function wait(duration: string, { clock, draw, released }: Strike, ...ends: AbortSignal[]): Promise<void> {
  const { min, max } = parseDurationRange(duration)
  const signals = [released, ...ends]
  try {
    await clock.sleep(min === max ? min : min + draw() * (max - min), ...signals)
  } catch (error) {
    if (!signals.some(({ aborted }) => aborted)) throw error
  }
}

/** Waits until the fault is released. */
export async function waitForRelease({ released }: Pick<Strike, 'released'>): Promise<void> {
  if (released.aborted) return
  await new Promise((resolve) => released.addEventListener('abort', resolve, { once: true }))
}
