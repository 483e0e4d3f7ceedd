import { shorten } from './foreign-text.ts'

/** Steps from a document's root to a field: keys of mappings, indices of lists. */
export type Path = readonly (string | number)[]

/** A problem with something that was given: a field of a file, of a body, a header. */
export interface Issue {
  /** The field; empty for the whole. */
  path: Path
  /** The problem: `must be a UUID; got "abc"`. Not a sentence: no capital letter and no full stop. */
  message: string
  /** The remedy, where the message does not say it already. */
  fix?: string | undefined
  /** The parts of the message, where it has them: the right value, and the value that came. */
  expected?: string
  came?: string
  /** Set when the name of the field is wrong: a file's reader then gets the place of the key instead of the value's. */
  anchor?: 'key'
}

/** An issue without its place. */
export type IssueWords = Omit<Issue, 'path'>

/** Message and remedy of an issue, without its path. */
export function wordsOf({ message, fix }: IssueWords): string {
  return fix === undefined ? message : `${message}; ${fix}`
}

/** `tenants[0].client_id`; keys that are not plain words stand in brackets and quotes. */
export function formatPath(path: Path): string {
  return path
    .map((step, i) => {
      if (typeof step === 'number') return `[${step}]`
      if (/^[\w$-]{1,64}$/.test(step)) return `${i > 0 ? '.' : ''}${step}`
      return `[${JSON.stringify(shorten(step.replace(/\s+/g, ' ').trim(), 80))}]`
    })
    .join('')
}

/** A text that cannot be parsed. The message holds both parts. */
export class UnreadableTextError extends RangeError {
  override readonly name = 'UnreadableTextError'

  constructor(
    readonly problem: string,
    readonly fix: string,
  ) {
    super(`${problem}; ${fix}`)
  }
}
