import { suggest } from './support/nearest.ts'

/** An option that cannot be used; the message names the option and the fix. */
export class OptionError extends Error {
  override readonly name = 'OptionError'
  readonly code = 'invalid_option'
}

/** Refuses unknown names of options; `what` is their subject in the message. Throws OptionError with the nearest known name. */
export function refuseUnknownNames(given: object, known: Record<string, true>, what: string): void {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(known, name)) {
      throw new OptionError(`"${name}" is no option of ${what}; ${suggest(name, Object.keys(known))}`)
    }
  }
}
