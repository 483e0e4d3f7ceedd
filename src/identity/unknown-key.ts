import { generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** A private key registered nowhere, made when first asked for and kept: what it signs must be refused. */
export class UnknownKey {
  #key: Promise<KeyObject> | undefined

  /** The key, if it was ever asked for. */
  get made(): Promise<KeyObject> | undefined {
    return this.#key
  }

  get(): Promise<KeyObject> {
    this.#key ??= promisify(generateKeyPair)('rsa', { modulusLength: 2048 }).then(({ privateKey }) => privateKey)
    return this.#key
  }
}
