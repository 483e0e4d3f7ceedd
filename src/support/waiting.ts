import { setMaxListeners } from 'node:events'

/** As Promise.all, but when several fail it throws the error of the first in the list, whichever came first. */
export async function allInOrder<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(promises)
  const results: Result[] = []
  for (const promise of promises) results.push(await promise)
  return results
}

const TOO_LATE = Symbol('too late')

/**
 * Resolves to the task's result, unless the patience ends first: then it throws the error of `late`, and the task goes on
 * with nobody waiting.
 */
export async function inTime<Result>(
  task: Promise<Result>,
  patience: Promise<void>,
  late: () => Error,
): Promise<Result> {
  const first = await Promise.race([task, patience.then((): typeof TOO_LATE => TOO_LATE)])
  if (first === TOO_LATE) throw late()
  return first
}

/** Conditions and pauses of retries. */
export interface RetryOptions {
  /** @returns true if the error passes by itself */
  passes(error: unknown, attempt: number): boolean
  /** Milliseconds of real time between two attempts. */
  pauseMs: number
  sleep(milliseconds: number): Promise<void>
  /** @returns true when nobody needs the task any more: then the last error is thrown */
  ended(): boolean
}

/** Does a task, and repeats it while it fails with an error that passes by itself. Throws the error of the last attempt. */
export async function retryWhile<Result>(
  task: () => Promise<Result>,
  { passes, pauseMs, sleep, ended }: RetryOptions,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task()
    } catch (error) {
      if (!passes(error, attempt) || ended()) throw error
      await sleep(pauseMs)
      if (ended()) throw error
    }
  }
}

/** An AbortController that any number of waiting requests may listen to: Node does not warn of a leak. */
export function abortController(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
