import { InvalidArgumentError, type Option } from 'commander'
import { suggest } from '../support/nearest.ts'
import { parseDuration } from '../support/quantities.ts'
import { type FindingId, isFindingId, objectionTo } from '../verdict/finding-ids.ts'

/** Parses a whole number of any size; callers check the range. Throws InvalidArgumentError. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** Parses a duration such as `10m` to milliseconds. Throws InvalidArgumentError. */
export function duration(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

/** Parses a whole number above 0. Throws InvalidArgumentError. */
export function atLeastOne(text: string): number {
  const count = wholeNumber(text)
  if (count > 0) return count
  throw new InvalidArgumentError('It must be at least 1.')
}

/** Parses a duration above 0 to milliseconds. Throws InvalidArgumentError. */
export function positiveDuration(text: string): number {
  const milliseconds = duration(text)
  if (milliseconds > 0) return milliseconds
  throw new InvalidArgumentError('It must be longer than 0; leave it out for no limit.')
}

/** Accepts a text of at least one character. Throws InvalidArgumentError. */
export function notEmpty(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('It must not be empty; leave it out for none.')
}

/** Adds the id of one more finding, for an option that may be repeated. Throws InvalidArgumentError. */
export function findingIds(word: string, earlier: FindingId[] = []): FindingId[] {
  if (isFindingId(word)) return [...earlier, word]
  const { message, fix } = objectionTo(word) ?? { message: '', fix: '' }
  throw new InvalidArgumentError(sentence(`${message}: ${fix}`))
}

/** Lets an option have one of these words only; a misspelt one is refused with the nearest, where commander would list all. */
export function choosing(option: Option, words: readonly string[]): Option {
  return option.choices(words).argParser((word) => {
    if (words.includes(word)) return word
    throw new InvalidArgumentError(sentence(suggest(word, words)))
  })
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('?') ? '' : '.')
}
