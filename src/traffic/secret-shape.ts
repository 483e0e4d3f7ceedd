/** Runs of characters that keys and tokens are written in. */
export const RUN = /[\w~+-]{16,}/g
/** Runs that base64 is written in, which no path begins like. */
export const BASE64 = /(?<![\w/+])[0-9A-Za-z][\w+/]{39,}/g

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const ULID = /(?<![0-9A-Za-z])[0-9A-HJKMNP-TV-Z]{26}(?![0-9A-Za-z])/g
/** An address or a hash. */
const CHAIN = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i
/** An id of the service, or a name without digits. */
const PLAIN_RUN = /^(?:[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}|[a-z_-]+)$/
const HEX_KEY = /(?<![0-9a-z])[0-9a-f]{40,}(?![0-9a-z])/i
/** How issuers begin their keys, and what the header of every JSON Web Token begins with. */
const PREFIX = /^(?:eyJ|(?:sk|pk|rk|whsec)_|gh[opsu]_|github_pat_|glpat-|npm_|xox[a-z]-|AKIA|AIza|[\w~-]{3}8Q~)/
const ALPHANUMERIC = /[0-9A-Za-z]{12,}/g
/** Characters of one run without a break, and of a text with some: random ones of that length guess themselves. */
const LONG_RUN = 20
const LONG_TEXT = 32
/** Changes between lower case, upper case and digits for each character: a random text has twice as many, words written together fewer. */
const CHANGES = 0.3
/** Bytes of the signature that a cursor of the service begins with. */
const SIGNATURE_BYTES = 16

/**
 * @returns true if a run of characters looks like a key or a token, and not like a name, an id, a UUID, an address, a hash or a cursor
 * of the service. A word that somebody chose for a password does not look like one: where such a word stands, its name decides.
 */
export function isSecretShaped(run: string): boolean {
  if (run.length < 16 || PLAIN_RUN.test(run) || CHAIN.test(run) || isCursor(run)) return false
  if (PREFIX.test(run) || HEX_KEY.test(run)) return true
  const rest = run.replace(UUID, '').replace(ULID, '')
  const runs = rest.match(ALPHANUMERIC) ?? []
  return runs.some((one) => (one.length >= LONG_RUN || rest.length >= LONG_TEXT) && looksRandom(one))
}

/** @returns true if a text has the form of the service's cursors: base64url of a signature and a JSON array */
export function isCursor(text: string): boolean {
  if (!/^[\w-]{40,}$/.test(text)) return false
  const payload = Buffer.from(text, 'base64url').subarray(SIGNATURE_BYTES).toString()
  return /^\[\d+,\d+(?:,"[\w .:/@+-]*")+\]$/.test(payload)
}

function looksRandom(run: string): boolean {
  if (!/[a-z]/.test(run) || !/[A-Z]/.test(run) || !/[0-9]/.test(run)) return false
  let changes = 0
  for (let at = 1; at < run.length; at++) if (classOf(run.charCodeAt(at)) !== classOf(run.charCodeAt(at - 1))) changes++
  return changes >= run.length * CHANGES
}

/** Digits come before upper case, and that before lower case. */
function classOf(code: number): number {
  if (code < 0x3a) return 0
  return code < 0x5b ? 1 : 2
}
