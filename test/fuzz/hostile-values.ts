import type { Dice } from './dice.ts'

/** A value that is written into JSON as it stands: what no JSON.stringify would write. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** JSON of a value, with every {@link RawJson} in it as it stands. */
export function jsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`)
    .join(',')}}`
}

const nested = (open: string, close: string, depth: number) => new RawJson(open.repeat(depth) + close.repeat(depth))
const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, index]))

/** Texts that have broken parsers, databases, logs or terminals. */
export const STRINGS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\u202eetirw',
  '\ufeff',
  '\u200b',
  'e\u0301'.repeat(20),
  '👩‍👩‍👧‍👦',
  'ﷺ'.repeat(50),
  '１２３',
  'İ',
  'ß',
  'x'.repeat(51),
  'x'.repeat(129),
  'x'.repeat(501),
  'x'.repeat(20_000),
  '\r\nX-Injected: yes',
  '%00',
  '%0d%0aX-Injected: yes',
  '%s%n%x',
  '{{7*7}}',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '../../../../etc/passwd',
  '..\\..\\windows',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'undefined',
  'null',
  'NaN',
  'true',
  '[object Object]',
  'alice',
  'bob',
  'aave',
  'morpho',
  '31337',
  '31338',
  'jar_00000000000000000000000000',
  '0x',
  `0x${'0'.repeat(40)}`,
  `0x${'f'.repeat(40)}`,
  `0X${'A'.repeat(40)}`,
  `0x${'g'.repeat(40)}`,
  `0x${'0'.repeat(64)}`,
  `0x${'f'.repeat(10_000)}`,
  '9999-12-31T23:59:59.999Z',
  '-000001-01-01T00:00:00Z',
  '2027-02-30T25:61:61Z',
  '(a+)+$',
  '\\',
  '"',
  '/',
  '?',
  '#',
]

/** Digit strings and what nearly is one. */
export const DIGITS: readonly string[] = [
  '0',
  '-0',
  '00',
  '1',
  '01',
  '-1',
  '+1',
  ' 1',
  '1 ',
  '1.0',
  '1e3',
  '0x10',
  '1_000',
  '1,000',
  '9007199254740993',
  '18446744073709551616',
  String(2n ** 128n),
  String(2n ** 255n),
  String(2n ** 256n - 1n),
  String(2n ** 256n),
  '9'.repeat(78),
  '9'.repeat(5_000),
  `${'0'.repeat(500)}1`,
  '٣',
]

const NUMBERS: readonly unknown[] = [
  0,
  new RawJson('-0'),
  1,
  -1,
  0.5,
  1e21,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  new RawJson('9007199254740993'),
  new RawJson('1e308'),
  new RawJson('1e400'),
  new RawJson('-1e400'),
  new RawJson('1E-400'),
  new RawJson('9'.repeat(400)),
  new RawJson(`0.${'0'.repeat(400)}1`),
]

const STRUCTURES: readonly unknown[] = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  [{}],
  { '': '' },
  new RawJson('{"__proto__":{"polluted":true}}'),
  new RawJson('{"a":{"__proto__":{"polluted":true}}}'),
  new RawJson('{"constructor":{"prototype":{"polluted":true}}}'),
  new RawJson('{"a":1,"a":2}'),
  { toString: null, valueOf: null, toJSON: 'x' },
  new RawJson('{"then":"x","length":-1}'),
  { $ref: '#/components/schemas/Problem' },
  { kind: {}, match: [], with: null },
  nested('[', ']', 30),
  nested('[', ']', 400),
  nested('[', ']', 3_000),
  nested('[', ']', 20_000),
  new RawJson(`${'{"a":'.repeat(400)}1${'}'.repeat(400)}`),
  new RawJson(`${'{"a":'.repeat(8_000)}1${'}'.repeat(8_000)}`),
  Array.from({ length: 3_000 }, () => 0),
  Array.from({ length: 200 }, () => ({})),
  members(1_500),
]

/** Any value, seldom one that fits. */
export function hostileValue(dice: Dice): unknown {
  const what = dice.weighted({ string: 8, digits: 4, number: 4, structure: 5, garbage: 1 })
  if (what === 'string') return dice.pick(STRINGS)
  if (what === 'digits') return dice.pick(DIGITS)
  if (what === 'number') return dice.pick(NUMBERS)
  if (what === 'structure') return dice.pick(STRUCTURES)
  return dice.bytes(1 + dice.below(40)).toString('latin1')
}

/** Text that is no JSON, or JSON that nobody writes. */
const BROKEN_JSON: readonly (string | Buffer)[] = [
  '',
  ' ',
  '{',
  '}',
  '[',
  '{"a":1,}',
  "{'a':1}",
  '{a:1}',
  'NaN',
  'Infinity',
  'undefined',
  '\ufeff{}',
  '{}{}',
  '{} trailing',
  '// comment\n{}',
  '"\\x41"',
  '"\\u12"',
  '"\n"',
  '01',
  '1.',
  '\0',
  Buffer.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0]),
  Buffer.from([0x22, 0xc3, 0x28, 0x22]),
  Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
  '['.repeat(50_000),
  '{"a":'.repeat(15_000),
  `"${'x'.repeat(110_000)}"`,
  ' '.repeat(110_000),
]

/** A whole body that fits nothing. */
export function hostileBody(dice: Dice): string | Buffer {
  const what = dice.weighted({ broken: 3, value: 4, bytes: 1 })
  if (what === 'broken') return dice.pick(BROKEN_JSON)
  return what === 'value' ? jsonText(hostileValue(dice)) : dice.bytes(dice.below(200))
}
