import { createHmac } from 'node:crypto'
import { formDecode } from '../support/encodings.ts'
import { BoundedMap } from '../support/maps.ts'
import { SeededRandom } from '../support/random.ts'
import { harmless, SECRET_NAME } from './harmless.ts'
import type { ShownToken } from './recorded-exchange.ts'
import { fingerprintOf } from './show-token.ts'

/** Replacement of a secret. */
const GONE = '[redacted]'

/** Three parts with dots between them, as in a compact JWS. Each begins where no earlier one could go on: that keeps it linear. */
const DOTTED = /(?<![\w-])([\w-]+)\.([\w-]*)\.([\w-]+)/g

/** A private key in PEM, plain or as JSON and forms escape it; up to the end of the text if the end mark is missing. */
const PEM = /-----BEGIN[^-]{0,40}PRIVATE[^-]{0,20}KEY-----[\s\S]*?(?:-----END[^-]{0,80}-----|$)/g

/** User name and password of a URL. */
const USER_INFO = /\/\/[^\s/@"']+@/g

/** A credential after its name or scheme, anywhere in a text. */
const ASSIGNED =
  /(?<![\w-])([\w-]{0,40}(?:secret|passw(?:or)?d|pwd|api[-_]?key|access[-_]?token|signature)=)[^\s"'&,;<>[\]]{3,}/gi
const SCHEME = /(?<![\w-])(bearer|basic|dpop) +(?=[\w~+/.-]*\d|[\w~+/.-]{20})[\w~+/.-]{6,}=*/gi

/** Lengths of texts that are worth caching: not shorter than LONG, not longer than TOO_LONG. */
const LONG = 64
const TOO_LONG = 4096

/** Values whose repetition in an answer is no accident: shorter ones may be a word of it. */
const ECHO = /^(?=.*\d).{6,}|.{12,}/s

/**
 * Decides what of the traffic may be shown, for all output: record, archive, explanation, report, certificate and log. A value is
 * shown if the specification names its field or it is known to be harmless, and never if it is a known secret or looks like one.
 */
export class Redactor {
  readonly #known: RegExp | undefined
  /** Key of the hashes: without it nobody can find a hidden word by trying. */
  readonly #key = SeededRandom.secret()
  /** Tokens shown lately: a client sends the same one with every request. */
  readonly tokens = new BoundedMap<string, ShownToken>(200)
  /** Texts that contain nothing to hide: most answers repeat. */
  readonly #clean = new BoundedMap<string, true>(200)
  readonly #keyLines: readonly string[]
  #trace: string[] | undefined

  /**
   * `secrets` are known ones, such as the client secrets of a fixture: they are found in any encoding. `keys` are private keys in PEM;
   * each of their lines is found.
   */
  constructor(secrets: readonly string[], keys: readonly string[] = []) {
    this.#keyLines = keys.flatMap((pem) => pem.split(/\r?\n/).filter((line) => /^[\w+/=]{40,}$/.test(line)))
    const known = secrets.filter(({ length }) => length > 3).flatMap(spellings)
    const patterns = [...new Set(known)].sort((a, b) => b.length - a.length).map((one) => one.replace(/\W/g, '\\$&'))
    this.#known = patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'g')
  }

  /** Redacts any text: removes known secrets, private keys, tokens, credentials after their names, and strings that look like keys. */
  text(text: string): string {
    if (text.length < LONG || text.length > TOO_LONG) return this.#decoded(text)
    if (this.#clean.has(text)) return text
    const shown = this.#decoded(text)
    if (shown === text) this.#clean.set(text, true)
    return shown
  }

  #decoded(text: string): string {
    const shown = this.#plain(text)
    let decoded = shown
    for (let layer = 0; layer < 2 && decoded.includes('%'); layer++) {
      decoded = formDecode(decoded) ?? ''
      const clean = this.#plain(decoded)
      // A secret that shows only in the decoded text cannot be cut out of the encoded one.
      if (clean !== decoded) return clean
    }
    return shown
  }

  /** Replaces a value that may be a secret by a keyed hash: equal values give equal hashes, and reveal nothing else. */
  hidden(value: string): string {
    if (harmless.value(value)) return value
    this.#trace?.push(value)
    return `[hidden ${createHmac('sha256', this.#key).update(value).digest('hex').slice(0, 8)}]`
  }

  /** Redacts a path without its query. `served`: true if the service has it, so that its segments have names. */
  path(path: string, served: boolean): string {
    const segments = this.#plain(path) === path ? path.split('/') : this.text(path).split('/')
    return segments
      .map((segment, at) => {
        if (served || segments[at - 1] === 'end_users' || isMark(segment)) return this.text(segment)
        const shown = this.text(segment)
        return shown !== segment || harmless.segment(formDecode(segment) ?? segment) ? shown : this.hidden(segment)
      })
      .join('/')
  }

  /** Redacts the value of a request's header. */
  header(name: string, value: string): string {
    const [, scheme, token] = /^\s*(bearer +)?(\S+)\s*$/i.exec(value) ?? []
    if (/^authorization$/i.test(name)) {
      if (scheme !== undefined && token !== undefined) return `${scheme}${this.credential(token)}`
      return /^basic /i.test(value) ? `Basic ${GONE}` : this.#gone(value)
    }
    if (/^x-user-token$/i.test(name)) return this.credential(value)
    if (SECRET_NAME.test(name)) return this.#gone(value)
    return harmless.header(name) ? this.text(value) : this.unknown(value)
  }

  /** Redacts the value of a query parameter. */
  parameter(name: string, value: string): string {
    if (SECRET_NAME.test(name)) return value === '' ? value : this.#gone(value)
    return harmless.parameter(name) ? this.text(value) : this.unknown(value)
  }

  /** Redacts the value of an answer's header, which the sandbox writes itself. */
  answerHeader(name: string, value: string): string {
    return SECRET_NAME.test(name) ? GONE : this.text(value)
  }

  /** Shows a client id only if it is a UUID: anything else may be the secret in its place. */
  clientId(id: string): string {
    return harmless.clientId(id) ? this.text(id) : this.unknown(id)
  }

  /** Replaces a secret; a token by its fingerprint, so that two tokens can be distinguished. */
  credential(secret: string): string {
    if (secret.split('.', 4).length !== 3) return this.#gone(secret)
    return `[token ${this.tokens.get(secret)?.fingerprint ?? fingerprintOf(secret)}]`
  }

  /** Redacts the header or claims of a token: only standard ones are shown. */
  claims(claims: Record<string, unknown>): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [this.text(name), this.#claim(harmless.claim(name), value)]),
    )
  }

  /** Returns the result of `work`, and the values that it hid and that another text might repeat. */
  tracing<T>(work: () => T): { result: T; hidden: readonly string[] } {
    this.#trace = []
    try {
      const result = work()
      return { result, hidden: [...new Set(this.#trace)].filter((one) => ECHO.test(one)) }
    } finally {
      this.#trace = undefined
    }
  }

  /** As {@link text}, for a text that may repeat hidden values. */
  echo(text: string, hidden: readonly string[]): string {
    return this.text(hidden.reduce((rest, one) => rest.replaceAll(one, this.hidden(one)), text))
  }

  #isSecret(run: string): boolean {
    return (
      isSecretShaped(run) ||
      (run.length >= 40 && this.#keyLines.some((line) => run.includes(line) || line.includes(run)))
    )
  }

  #gone(value: string): string {
    this.#trace?.push(value)
    return GONE
  }

  #claim(known: boolean, value: unknown): unknown {
    if (typeof value === 'string') return known ? this.text(value) : this.hidden(value)
    if (value === null || typeof value === 'boolean' || (known && typeof value === 'number')) return value
    if (known && Array.isArray(value)) return value.map((one) => this.#claim(known, one))
    return this.hidden(JSON.stringify(value))
  }

  /** Marks a known secret as such, since it was sent here by mistake; hides anything else. */
  unknown(value: string): string {
    const shown = this.text(value)
    return shown === value ? this.hidden(value) : (marksOf(shown) ?? this.hidden(value))
  }

  #plain(text: string): string {
    let shown = this.#known ? text.replace(this.#known, GONE) : text
    if (shown.includes('-----BEGIN')) shown = shown.replace(PEM, `-----BEGIN PRIVATE KEY-----${GONE}`)
    if (shown.includes('.')) shown = shown.replace(DOTTED, withoutToken)
    if (shown.includes('@')) shown = shown.replace(USER_INFO, `//${GONE}@`)
    if (shown.includes('=')) shown = shown.replace(ASSIGNED, `$1${GONE}`)
    if (shown.includes(' ')) shown = shown.replace(SCHEME, `$1 ${GONE}`)
    if (shown.length < 16) return shown
    shown = shown.replace(RUN, (one) => (this.#isSecret(one) ? this.hidden(one) : one))
    return shown.includes('/') ? shown.replace(BASE64, (one) => (this.#isSecret(one) ? this.hidden(one) : one)) : shown
  }
}

function isMark(segment: string): boolean {
  return /^\[(?:redacted|(?:hidden|token) [0-9a-f]+)\]/.test(segment)
}

function withoutToken(dotted: string, header: string): string {
  return Buffer.from(header, 'base64url').toString().trimStart().startsWith('{')
    ? `[token ${fingerprintOf(dotted)}]`
    : dotted
}

/** The marks of secrets found in a value that is hidden as a whole. */
function marksOf(shown: string): string | undefined {
  return shown.match(/\[redacted\]|\[token [0-9a-f]+\]/g)?.join(' ')
}

/** The spellings of a secret in bodies, URLs and headers. */
export function spellings(secret: string): string[] {
  const encoded = encodeURIComponent(secret)
  return [
    secret,
    encoded,
    encoded.replaceAll('%20', '+'),
    encoded.toLowerCase(),
    encoded.replaceAll('%', '%25'),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
    ...(secret.length < 8 ? [] : [0, 1, 2].flatMap((before) => inBase64(secret, before))),
  ]
}

/** The secret within the base64 of a longer text, `before` bytes behind a multiple of three, without the characters it shares. */
function inBase64(secret: string, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
  const first = Math.ceil((before * 8) / 6)
  const last = Math.floor((bytes.length * 8) / 6)
  return (['base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding).slice(first, last))
}

/** Runs of characters of which keys and tokens consist. */
export const RUN = /[\w~+-]{16,}/g
/** Runs of base64 that do not begin like a path. */
const BASE64 = /(?<![\w/+])[0-9A-Za-z][\w+/]{39,}/g

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const ULID = /(?<![0-9A-Za-z])[0-9A-HJKMNP-TV-Z]{26}(?![0-9A-Za-z])/g
/** An address or a hash. */
const CHAIN = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i
/** An id of the service, or a name without digits. */
const PLAIN_RUN = /^(?:[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}|[a-z_-]+)$/
const HEX_KEY = /(?<![0-9a-z])[0-9a-f]{40,}(?![0-9a-z])/i
/** Prefixes of issuers' keys, and the beginning of every JSON Web Token's header. */
const PREFIX = /^(?:eyJ|(?:sk|pk|rk|whsec)_|gh[opsu]_|github_pat_|glpat-|npm_|xox[a-z]-|AKIA|AIza|[\w~-]{3}8Q~)/
const ALPHANUMERIC = /[0-9A-Za-z]{12,}/g
/** Minimum lengths of a run without a break, and of a text with breaks, to be taken for random. */
const LONG_RUN = 20
const LONG_TEXT = 32
/** Changes between lower case, upper case and digits per character: a random text has twice as many, words written together fewer. */
const CHANGES = 0.3
/** Bytes of the signature at the beginning of the service's cursors. */
const SIGNATURE_BYTES = 16

/**
 * @returns true if a run of characters looks like a key or a token, and not like a name, an id, a UUID, an address, a hash or a cursor
 * of the service. A word chosen as a password does not look like one: there the name of the field decides.
 */
function isSecretShaped(run: string): boolean {
  if (run.length < 16 || PLAIN_RUN.test(run) || CHAIN.test(run) || isCursor(run)) return false
  if (PREFIX.test(run) || HEX_KEY.test(run)) return true
  const rest = run.replace(UUID, '').replace(ULID, '')
  const runs = rest.match(ALPHANUMERIC) ?? []
  return runs.some((one) => (one.length >= LONG_RUN || rest.length >= LONG_TEXT) && looksRandom(one))
}

/** @returns true if a text has the form of the service's cursors: base64url of a signature and a JSON array */
function isCursor(text: string): boolean {
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
