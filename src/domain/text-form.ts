/**
 * Form of a text: a regular expression that ECMA-262 and RE2 both read, so that clients generated in any language can use it, and
 * words that continue "must be".
 */
export interface TextForm {
  pattern: string
  words: string
}

/** spec: Resources, "Ethereum address". A mixed-case address must also have a right checksum. */
export const ADDRESS_FORM: TextForm = {
  pattern: '^0x[0-9a-fA-F]{40}$',
  words: 'an Ethereum address: 0x and 40 hexadecimal digits, with a right EIP-55 checksum if the case is mixed',
}

/** spec: Resources, "Numeric string". */
export const DIGITS_FORM: TextForm = { pattern: '^[0-9]+$', words: 'a string of digits' }

/** Assumption `create-end-user`. A path cannot name `.` and `..`: URLs resolve them (RFC 3986 §5.2.4). */
export const EXTERNAL_ID_FORM: TextForm = {
  pattern: '^(\\.{0,2}[A-Za-z0-9_-]|\\.{3})[A-Za-z0-9_.-]*$',
  words: '1 to 128 of A-Z a-z 0-9 - _ . and neither . nor ..',
}

/** Form of the `external_id` of a new end user, by `service.external_ids`. */
export function externalIdForm({ external_ids: pattern }: { external_ids: string }): TextForm {
  if (pattern === EXTERNAL_ID_FORM.pattern) return EXTERNAL_ID_FORM
  return { pattern, words: `a text of at most 128 characters that ${pattern} matches (service.external_ids)` }
}

/** One line of text. */
export const LINE_FORM: TextForm = {
  pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$',
  words: 'a text without control characters',
}

const FORMS = [ADDRESS_FORM, DIGITS_FORM, EXTERNAL_ID_FORM, LINE_FORM]

/** Words for the pattern of a form; undefined for any other pattern. */
export function wordsFor(pattern: unknown): string | undefined {
  return FORMS.find((form) => form.pattern === pattern)?.words
}
