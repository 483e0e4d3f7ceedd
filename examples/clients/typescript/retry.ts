import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, NoAnswer, OutcomeUnknown } from './errors.ts'

/** Answers after which the same request may succeed. Others are final: repeating them changes nothing. */
const PASSING = new Set([408, 429, 500, 502, 503, 504])

/**
 * Tries until there is a final answer, so many times at most; throws the last failure. With the request's Idempotency-Key, it throws
 * OutcomeUnknown for a refusal that says nothing of an earlier attempt, such as 401 after a drop: only 422 is the outcome of a key.
 */
export async function withRetries<T>(attempts: number, action: () => Promise<T>, key?: string): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action()
    } catch (error) {
      const final = !mayPass(error)
      const isOutcome = error instanceof ApiError && error.status === 422
      if (final && attempt > 1 && key !== undefined && !isOutcome) throw new OutcomeUnknown(key, error)
      if (final || attempt >= attempts) throw error
      await sleep(pause(error, attempt))
    }
  }
}

/** Whether the failure says nothing final about what was asked for. */
export function mayPass(error: unknown): boolean {
  if (error instanceof NoAnswer) return true
  return error instanceof ApiError && (PASSING.has(error.status) || error.code === 'idempotency_key_in_progress')
}

/** What the service asks for, else 0.25, 0.5, 1, 2, 4, 4, … s; a random part of it keeps many clients apart. */
function pause(error: unknown, attempt: number): number {
  const asked = error instanceof ApiError ? error.retryAfter : undefined
  if (asked !== undefined) return asked + Math.random() * 100
  return Math.min(4000, 125 * 2 ** attempt) * (0.75 + Math.random() / 2)
}
