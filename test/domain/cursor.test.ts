import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { CURSOR_LIFETIME, CursorCodec } from '../../src/domain/pagination.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { anyText } from '../helpers/any-text.ts'

const secret = new SeededRandom(1).bytes('cursor-secret', 32)
const scope = 'list_transactions/usr_1'
const position = { key: ['2025-01-01T00:00:00.000Z', 'txn_01JD7Z4Q3V6N8W5T2R9YHKXGBM'], up_to: 42 }
const invalid = expect.objectContaining({
  code: 'cursor_invalid',
  status: 400,
  details: expect.objectContaining({ param: 'starting_after' }),
})
const expired = expect.objectContaining({
  code: 'cursor_expired',
  status: 410,
  details: expect.objectContaining({ param: 'starting_after' }),
})

let clock: SandboxClock
let codec: CursorCodec

beforeEach(() => {
  clock = new SandboxClock()
  clock.freeze()
  codec = new CursorCodec({ secret, clock })
})

const read = (cursor: string, scopeOfList = scope) => codec.read(cursor, scopeOfList, 'starting_after')

describe('a cursor', () => {
  it('gives back its position, whatever the key and scope hold', () => {
    const text = anyText()
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 4 }), fc.nat(), (scope, key, up_to) => {
        const cursor = codec.issue({ scope, key, up_to })
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(read(cursor, scope)).toEqual({ key, up_to })
      }),
    )
  })

  it('is short, and shows neither secret nor scope', () => {
    const cursor = codec.issue({ scope, ...position })
    expect(cursor.length).toBeLessThan(150)
    const bytes = Buffer.from(cursor, 'base64url')
    expect(bytes.includes(scope)).toBe(false)
    expect(bytes.includes(Buffer.from(secret.subarray(0, 8)))).toBe(false)
  })

  it('is invalid with any one bit flipped', () => {
    const bytes = Buffer.from(codec.issue({ scope, ...position }), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const tampered = Buffer.from(bytes)
      tampered[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => read(tampered.toString('base64url'))).toThrow(invalid)
    }
  })

  it('is invalid with any one character replaced, dropped or added, trailing bits and padding included', () => {
    // Lengths of every remainder by three, so that the last character also carries unused bits.
    for (const id of ['txn_1', 'txn_12', 'txn_123']) {
      const cursor = codec.issue({ scope, key: [id], up_to: 1 })
      for (let i = 0; i <= cursor.length; i++) {
        const [head, tail] = [cursor.slice(0, i), cursor.slice(i)]
        for (const character of 'AZaz09-_+/= \n.é') {
          expect(() => read(head + character + tail)).toThrow(invalid)
          if (tail[0] !== character) expect(() => read(head + character + tail.slice(1))).toThrow(invalid)
        }
        if (tail) expect(() => read(head + tail.slice(1))).toThrow(invalid)
      }
    }
  })

  it('is invalid when it is any other text', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.base64String()), (text) => {
        expect(() => read(text)).toThrow(invalid)
      }),
    )
    for (const text of ['', '=', 'null', '0', '../..', 'A'.repeat(100_000)]) expect(() => read(text)).toThrow(invalid)
  })

  it.each(['list_portfolios/usr_1', 'list_transactions/usr_2', 'list_transactions/usr_', '', `${scope}"`])(
    'is invalid on another list, %j',
    (other) => {
      expect(() => read(codec.issue({ scope, ...position }), other)).toThrow(invalid)
    },
  )

  it('is invalid when its first bytes are moved to the scope', () => {
    const bytes = Buffer.from(codec.issue({ scope, ...position }), 'base64url')
    const moved = Buffer.concat([bytes.subarray(0, 16), bytes.subarray(17)]).toString('base64url')
    expect(() => read(moved, scope + String.fromCharCode(bytes[16]!))).toThrow(invalid)
  })

  it('is invalid under another secret', () => {
    const other = new CursorCodec({ secret: new SeededRandom(2).bytes('cursor-secret', 32), clock })
    expect(() => read(other.issue({ scope, ...position }))).toThrow(invalid)
  })

  it('is valid for exactly 7 days of the sandbox clock, and expired a millisecond later', () => {
    const cursor = codec.issue({ scope, ...position })
    clock.advance(CURSOR_LIFETIME)
    expect(read(cursor)).toEqual(position)
    clock.advance(1)
    expect(() => read(cursor)).toThrow(expired)
  })

  it('is invalid rather than expired when it is both', () => {
    const cursor = codec.issue({ scope, ...position })
    clock.advance(CURSOR_LIFETIME + 1)
    expect(() => read(`${cursor}A`)).toThrow(invalid)
    expect(() => read(cursor, 'another list')).toThrow(invalid)
  })
})
