/** Most parameters a query may have, and most fields a form. */
export const MAX_PARAMETERS = 1000

/** @returns true if a query or form, as it stands in the request, holds more than {@link MAX_PARAMETERS}. */
export function hasTooManyParameters(encoded: string): boolean {
  return encoded.length > MAX_PARAMETERS && encoded.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS
}
