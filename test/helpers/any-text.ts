import fc from 'fast-check'

const SURROGATES = { from: 0xd800, count: 0x800 }

/** Any character; without the table of all of them that fast-check's `binary` makes first, in a second, and keeps. */
const unit = fc.integer({ min: 0, max: 0x10ffff - SURROGATES.count }).map(
  (n) => String.fromCodePoint(n < SURROGATES.from ? n : n + SURROGATES.count),
  (text) => {
    const n = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1
    const whole = n >= 0 && text === String.fromCodePoint(n)
    if (!whole || (n >= SURROGATES.from && n < SURROGATES.from + SURROGATES.count)) throw new Error('no character')
    return n < SURROGATES.from ? n : n - SURROGATES.count
  },
)

/** Texts of any characters, whole ones. */
export const anyText = (constraints: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit })
