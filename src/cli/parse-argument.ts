import { InvalidArgumentError } from 'commander'
import { parseDuration } from '../support/duration.ts'

/** Reads a whole number; how great it may be is for others to say. Throws InvalidArgumentError. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** Reads a duration such as `10m`, in milliseconds. Throws InvalidArgumentError. */
export function duration(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}
