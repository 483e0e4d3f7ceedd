import {
  CompressionFlag,
  ContextFlag,
  instantiateSecp256k1Wasm,
} from '@bitauth/libauth/build/lib/bin/secp256k1/secp256k1-wasm.js'

/** The curve of Ethereum's signatures. Throws if a key is not one of the curve: zero, or beyond its order. */
export interface Secp256k1 {
  /** The public key of a private key of 32 bytes, uncompressed: 65 bytes. */
  publicKey(key: Uint8Array): Uint8Array
  /** The signature of a hash of 32 bytes, made without randomness (RFC 6979): `r` and `s`, 32 bytes each, and the parity of its point. */
  sign(key: Uint8Array, hash: Uint8Array): { r: Uint8Array; s: Uint8Array; parity: number }
}

/** Bytes of what is handed to the code in WebAssembly, in its memory. */
const KEY = 32
const HASH = 32
const PUBLIC_KEY = 65
const SIGNATURE = 64
const WORD = 4
/** Bytes of a public key, and of a signature with its parity, in the form that the code itself uses. */
const INTERNAL_PUBLIC_KEY = 64
const INTERNAL_SIGNATURE = 65

/**
 * Loads libsecp256k1 from libauth, in WebAssembly, for signing only: libauth's own wrapper also makes the tables for verifying, which
 * take longer than all the rest.
 */
export async function loadSecp256k1(): Promise<Secp256k1> {
  const wasm = await instantiateSecp256k1Wasm()
  const context = wasm.contextCreate(ContextFlag.SIGN)
  const keyAt = wasm.malloc(KEY)
  const hashAt = wasm.malloc(HASH)
  const outAt = wasm.malloc(PUBLIC_KEY)
  const numberAt = wasm.malloc(WORD)
  const publicKeyAt = wasm.malloc(INTERNAL_PUBLIC_KEY)
  const signatureAt = wasm.malloc(INTERNAL_SIGNATURE)
  const withKey = (key: Uint8Array, task: () => number) => {
    wasm.heapU8.set(key, keyAt)
    const done = task()
    wasm.heapU8.fill(0, keyAt, keyAt + KEY)
    if (done !== 1) throw new Error('invalid private key: it is zero, or beyond the order of the curve')
  }
  return {
    publicKey(key) {
      withKey(key, () => wasm.pubkeyCreate(context, publicKeyAt, keyAt))
      wasm.heapU32[numberAt / WORD] = PUBLIC_KEY
      wasm.pubkeySerialize(context, outAt, numberAt, publicKeyAt, CompressionFlag.UNCOMPRESSED)
      return wasm.heapU8.slice(outAt, outAt + PUBLIC_KEY)
    },
    sign(key, hash) {
      wasm.heapU8.set(hash, hashAt)
      withKey(key, () => wasm.signRecoverable(context, signatureAt, hashAt, keyAt))
      wasm.recoverableSignatureSerialize(context, outAt, numberAt, signatureAt)
      const r = wasm.heapU8.slice(outAt, outAt + SIGNATURE / 2)
      const s = wasm.heapU8.slice(outAt + SIGNATURE / 2, outAt + SIGNATURE)
      return { r, s, parity: wasm.heapU32[numberAt / WORD] ?? 0 }
    },
  }
}
