import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { importSigningKeys, importSigningPem, quote } from '../../src/auth/signing-keys.ts'
import type { Jwk } from '../../src/domain/records.ts'
import { type KeyPair, keyPair } from './partner.ts'

let first: KeyPair
let second: KeyPair
beforeAll(() => {
  first = keyPair()
  second = keyPair()
})

const kidsOf = async (...keys: unknown[]) => [...(await importSigningKeys(keys)).keys()]

describe('a key of a set', () => {
  it.each<[string, Partial<Record<keyof Jwk, unknown>>]>([
    ['says nothing about its use', { use: undefined, alg: undefined }],
    ['may verify and more', { key_ops: ['sign', 'verify'] }],
  ])('is taken when it %s', async (_what, changes) => {
    expect(await kidsOf({ ...first.jwk('a'), ...changes })).toEqual(['a'])
  })

  it.each<[string, Partial<Record<keyof Jwk, unknown>>]>([
    ['no kid', { kid: undefined }],
    ['an empty kid', { kid: '' }],
    ['a kid that is no text', { kid: 7 }],
    ['no modulus', { n: undefined }],
    ['no exponent', { e: undefined }],
    ['another type, beside a modulus', { kty: 'EC' }],
    ['another algorithm', { alg: 'PS256' }],
    ['another use', { use: 'enc' }],
    ['other operations', { key_ops: ['sign'] }],
    ['operations that are no list', { key_ops: 'verify' }],
  ])('is left out with %s', async (_what, changes) => {
    expect(await kidsOf({ ...first.jwk('a'), ...changes }, first.jwk('b'))).toEqual(['b'])
  })

  it.each([null, undefined, 7, 'text', [], () => {}])('is left out when it is none: %s', async (none) => {
    expect(await kidsOf(none, first.jwk('b'))).toEqual(['b'])
  })

  it('counts before another of its kid, but only if it can be used', async () => {
    const keys = await importSigningKeys([keyPair(1024).jwk('a'), first.jwk('a'), second.jwk('a')])
    expect(keys.get('a')?.n).toBe(first.jwk('a').n)
  })
})

describe('a set that is read again', () => {
  it('keeps a key that is still the same, and no other', async () => {
    const known = await importSigningKeys([first.jwk('a'), first.jwk('b'), first.jwk('c'), first.jwk('d')])
    const again = await importSigningKeys(
      [first.jwk('a'), second.jwk('b'), { ...first.jwk('c'), e: 'Aw' }, first.jwk('new')],
      known,
    )
    expect([...again.keys()]).toEqual(['a', 'b', 'c', 'new'])
    expect(again.get('a')?.key).toBe(known.get('a')?.key)
    for (const kid of ['b', 'c']) expect(again.get(kid)?.key).not.toBe(known.get(kid)?.key)
    expect([again.get('b')?.n, again.get('c')?.e]).toEqual([second.jwk('b').n, 'Aw'])
  })
})

describe('a PEM', () => {
  it('has one key', async () => {
    expect([...(await importSigningPem(first.publicPem, 'a')).keys()]).toEqual(['a'])
  })

  it('has none when it is no RSA key of enough bits', async () => {
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' })
    for (const pem of ['', 'text', String(ec), keyPair(1024).publicPem]) {
      expect((await importSigningPem(pem, 'a')).size).toBe(0)
    }
  })
})

it.each([
  [undefined, 'nothing'],
  [null, 'null'],
  ['a"b', '"a\\"b"'],
  ['x'.repeat(98), `"${'x'.repeat(98)}"`],
  ['x'.repeat(99), `"${'x'.repeat(99)}…`],
])('a value from a token is quoted as JSON, and not at length: %j', (value, quoted) => {
  expect(quote(value)).toBe(quoted)
})
