import { suggest } from './support/nearest.ts'

/** An option that cannot be used; the message names the option and the fix. */
export class OptionError extends Error {
  override readonly name = 'OptionError'
  readonly code = 'invalid_option'
}

/** Refuses names that are not `known` as those of `what`. Throws OptionError with the nearest. */
export function refuseUnknownNames<Given extends object>(
  given: Given,
  known: Record<keyof Given, unknown>,
  what: string,
): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue
    throw new OptionError(`"${name}" is not an option of ${what}; ${suggest(name, Object.keys(known))}`)
  }
}
