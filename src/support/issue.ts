/** Steps from a document's root to a field: keys of mappings, indices of lists. */
export type Path = readonly (string | number)[]

/** What is wrong with something that was given, wherever it came from: a file, a body, a header. */
export interface Issue {
  /** The field; empty when the whole is meant. */
  path: Path
  /** What is wrong with it: `must be a UUID; got "abc"`. No sentence: without a capital letter and a full stop. */
  message: string
  /** What to do about it, where the message does not say it already. */
  fix?: string
}

/** An issue in a few words, without its path. */
export function wordsOf({ message, fix }: Pick<Issue, 'message' | 'fix'>): string {
  return fix === undefined ? message : `${message}; ${fix}`
}

/** A text that cannot be read as what it should be. The message holds both parts. */
export class UnreadableTextError extends RangeError {
  override readonly name = 'UnreadableTextError'

  constructor(
    readonly problem: string,
    readonly fix: string,
  ) {
    super(`${problem}; ${fix}`)
  }
}
