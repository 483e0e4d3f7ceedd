import { shorten } from './foreign-text.ts'

/** Steps from a document's root to a field: keys of mappings, indices of lists. */
export type Path = readonly (string | number)[]

/** What is wrong with something that was given, wherever it came from: a file, a body, a header. */
export interface Issue {
  /** The field; empty when the whole is meant. */
  path: Path
  /** What is wrong with it: `must be a UUID; got "abc"`. No sentence: without a capital letter and a full stop. */
  message: string
  /** What to do about it, where the message does not say it already. */
  fix?: string | undefined
  /** What would be right, and what came: the parts of the message, where it has them. */
  expected?: string
  came?: string
  /** Set when the field's name is what is wrong: a file's reader is pointed there instead of to the value. */
  anchor?: 'key'
}

/** What is wrong and what to do about it, without the place. */
export type IssueWords = Omit<Issue, 'path'>

/** An issue in a few words, without its path. */
export function wordsOf({ message, fix }: IssueWords): string {
  return fix === undefined ? message : `${message}; ${fix}`
}

/** `tenants[0].client_id`; keys that are no plain words in brackets and quotes. */
export function formatPath(path: Path): string {
  return path
    .map((step, i) => {
      if (typeof step === 'number') return `[${step}]`
      if (/^[\w$-]{1,64}$/.test(step)) return `${i > 0 ? '.' : ''}${step}`
      return `[${JSON.stringify(shorten(step.replace(/\s+/g, ' ').trim(), 80))}]`
    })
    .join('')
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
