import { formDecode } from '../support/form-decode.ts'
import { jsonObject } from '../support/json-object.ts'
import { fingerprintOf } from './show-token.ts'

/** What stands where a secret was. */
const GONE = '[redacted]'

/** Names of members, form fields, parameters and headers whose values nobody may be shown, whatever they are. */
const SECRET_NAME =
  /secret|passw(or)?d|passphrase|assertion|credential|private.?key|api.?key|cookie|session|authorization|(^|[-_])token$/i

/** Three parts with dots between them, as a compact JWS has. Each begins where no earlier one could go on: that keeps it linear. */
const DOTTED = /(?<![\w-])([\w-]+)\.([\w-]*)\.([\w-]+)/g

/** A private key in PEM, as it is or as JSON and forms write it; up to the end if that of the key is missing. */
const PEM = /-----BEGIN[^-]{0,40}PRIVATE[^-]{0,20}KEY-----[\s\S]*?(?:-----END[^-]{0,80}-----|$)/g

/** A member of JSON whose value is a text, also where the JSON as a whole is broken. */
const MEMBER = /"((?:[^"\\]|\\.){1,60})"(\s*:\s*)"((?:[^"\\]|\\.)*)/g

/** Takes secrets out of texts; a text without any comes back as it is. */
export class Redactor {
  readonly #secrets: readonly string[]

  /** `secrets` are known, such as the client secrets of a fixture: they are found in any encoding. */
  constructor(secrets: readonly string[]) {
    const spelled = secrets.filter(({ length }) => length > 3).flatMap(spellings)
    this.#secrets = [...new Set(spelled)].sort((a, b) => b.length - a.length)
  }

  /** Any text: known secrets, private keys and the signatures of tokens are gone. */
  text(text: string): string {
    const shown = this.#plain(text)
    if (!shown.includes('%')) return shown
    const decoded = formDecode(shown)
    const clean = decoded === undefined ? decoded : this.#plain(decoded)
    // What is a secret only when it is decoded cannot be cut out of the encoded text.
    return clean === undefined || clean === decoded ? shown : clean
  }

  /** A body in JSON, or whatever it is. */
  body(body: string): string {
    const written = body.includes('\\u') ? unescaped(body) : body
    const members = written.replace(MEMBER, (whole, name: string, colon: string, value: string) =>
      SECRET_NAME.test(name) ? `"${name}"${colon}"${inPlaceOf(value)}` : whole,
    )
    return this.text(members)
  }

  /** A body that is a form. */
  form(form: string): string {
    const fields = form.split('&').map((field) => {
      const at = field.indexOf('=')
      const name = at < 0 ? '' : (formDecode(field.slice(0, at)) ?? field.slice(0, at))
      return SECRET_NAME.test(name) ? `${field.slice(0, at)}=${GONE}` : this.text(field)
    })
    return fields.join('&')
  }

  /** The value of a header or of a query parameter. */
  value(name: string, value: string): string {
    const [, scheme, token] = /^\s*(bearer +)?(\S+)\s*$/i.exec(value) ?? []
    if (/^authorization$/i.test(name)) {
      if (scheme !== undefined && token !== undefined) return `${scheme}${inPlaceOf(token)}`
      return /^basic /i.test(value) ? `Basic ${GONE}` : GONE
    }
    if (/^x-user-token$/i.test(name)) return inPlaceOf(value)
    return SECRET_NAME.test(name) ? GONE : this.text(value)
  }

  #plain(text: string): string {
    let shown = text
    for (const secret of this.#secrets) if (shown.includes(secret)) shown = shown.replaceAll(secret, GONE)
    if (shown.includes('-----BEGIN')) shown = shown.replace(PEM, `-----BEGIN PRIVATE KEY-----${GONE}`)
    return shown.includes('.') ? shown.replace(DOTTED, withoutSignature) : shown
  }
}

/** A secret as bodies, URLs and headers may spell it. */
function spellings(secret: string): string[] {
  const encoded = encodeURIComponent(secret)
  return [
    secret,
    encoded,
    encoded.replaceAll('%20', '+'),
    encoded.toLowerCase(),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ]
}

/** A token is named, so that two of them can be told apart. */
function inPlaceOf(secret: string): string {
  return secret.split('.').length === 3 ? `[token ${fingerprintOf(secret)}]` : GONE
}

function withoutSignature(dotted: string, header: string, claims: string): string {
  return Buffer.from(header, 'base64url').toString().trimStart().startsWith('{')
    ? `${header}.${claims}.[signature]`
    : dotted
}

/** JSON without needless escapes; a text that is none as it is. */
function unescaped(text: string): string {
  const read = jsonObject(text)
  return read ? JSON.stringify(read) : text
}
