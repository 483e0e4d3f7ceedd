/** A file that is not a snapshot which this version can load. Nothing was changed. The message is one line: the fault and the fix. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
  readonly code = 'invalid_snapshot'

  /** `problem` continues a sentence about the file; `what` names the file. */
  constructor(
    readonly problem: string,
    readonly fix: string,
    what = 'the snapshot',
  ) {
    super(`${what}: ${problem}. Fix: ${fix}.`)
  }

  /** The same error about a named file. */
  of(path: string): SnapshotError {
    return new SnapshotError(this.problem, this.fix, path)
  }
}

/** The file is not as it was written. */
export function damagedSnapshot(problem: string): SnapshotError {
  return new SnapshotError(problem, 'take another copy of the file, or save the state again')
}
