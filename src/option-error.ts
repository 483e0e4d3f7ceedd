import { suggest } from './support/nearest.ts'

/** An option that cannot be used; the message says which and what to do. */
export class OptionError extends Error {
  override readonly name = 'OptionError'
  readonly code = 'invalid_option'
}

/** Refuses names that are none of those known, of `what`. Throws OptionError with the nearest. */
export function refuseUnknownNames(given: object, known: Record<string, true>, what: string): void {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(known, name)) {
      throw new OptionError(`"${name}" is no option of ${what}; ${suggest(name, Object.keys(known))}`)
    }
  }
}
