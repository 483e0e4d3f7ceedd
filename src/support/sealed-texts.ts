import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
/** Bytes of the nonce and of the tag of GCM. */
const [NONCE, TAG] = [12, 16]

/** Seals texts for all who have the same secret: nobody else reads or makes one. */
export class SealedTexts {
  readonly #key: Buffer

  /** `purpose` tells the uses of a secret apart. */
  constructor(secret: string, purpose: string) {
    this.#key = createHash('sha256').update(`${purpose}\n${secret}`).digest()
  }

  /** Returns base64url. */
  seal(text: string): string {
    const nonce = randomBytes(NONCE)
    const cipher = createCipheriv(CIPHER, this.#key, nonce)
    const sealed = Buffer.concat([cipher.update(text), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  /** The text; undefined if it was not sealed with this secret. */
  open(sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < NONCE + TAG) return undefined
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE), { authTagLength: TAG })
    decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString()
    } catch {
      return undefined
    }
  }
}
