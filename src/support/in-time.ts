const TOO_LATE = Symbol('too late')

/**
 * What a task comes to, unless the patience ends first: then what `late` says is thrown, and the task goes on without
 * anybody who waits for it.
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
