/** When a failed task is tried again, and for how long. */
export interface RetryOptions {
  /** @returns true if the error passes by itself */
  passes(error: unknown, attempt: number): boolean
  /** Milliseconds of real time between two attempts. */
  pauseMs: number
  sleep(milliseconds: number): Promise<void>
  /** @returns true when nobody needs the task any more: then the last error is thrown */
  ended(): boolean
}

/** Does a task, again and again while it fails with an error that passes by itself. Throws what the last attempt threw. */
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
