import { type TSchema, Type } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { formatPath, wordsOf } from '../../src/support/issue.ts'
import { schemaIssues, type ValueOrigin } from '../../src/support/schema-issues.ts'

const complaints = (schema: TSchema, value: unknown, origin?: ValueOrigin) =>
  schemaIssues(schema, value, origin).map((issue) => `${formatPath(issue.path) || 'all'}: ${wordsOf(issue)}`)

const Titled = Type.Object(
  { port: Type.Integer({ title: 'a port', examples: [4010] }), secret: Type.String({ pattern: '^s' }) },
  { additionalProperties: false },
)

test.each<[string, TSchema, unknown, string]>([
  ['no number', Type.Integer(), 'x', 'all: must be a whole number; got "x"'],
  [
    'a number out of a range',
    Type.Number({ minimum: 0, maximum: 1 }),
    2,
    'must be a number from 0 to 1; got the number 2',
  ],
  ['a number too small', Type.Integer({ minimum: 1 }), 0, 'must be a whole number of at least 1; got the number 0'],
  ['a number too large', Type.Integer({ maximum: 9 }), 10, 'must be a whole number of at most 9; got the number 10'],
  ['a number as a text', Type.Integer(), '7', 'must be a whole number; got "7"; remove the quotes: 7'],
  ['a text as a number', Type.String({ pattern: '^\\d+$' }), 7, 'got the number 7; put it in quotes: "7"'],
  ['a text too long', Type.String({ maxLength: 2 }), 'abc', 'must be a string of at most 2 characters; got "abc"'],
  ['no text', Type.String({ minLength: 1, maxLength: 9 }), null, 'must be a string of 1 to 9 characters; got nothing'],
  [
    'another form',
    Type.String({ pattern: '^a', examples: ['ab'] }),
    'b',
    'a string that looks like ab; got "b"; write it like "ab"',
  ],
  ['no truth value', Type.Boolean(), [1], 'must be true or false; got a list'],
  ['no list', Type.Array(Type.Null()), {}, 'must be a list; got an empty mapping'],
  ['no null', Type.Null(), { a: 1 }, 'must be null; got a mapping'],
  [
    'a number of a choice as a text',
    Type.Union([Type.Literal(200), Type.Literal(201)]),
    '200',
    'must be one of 200, 201; got "200"; remove the quotes: 200',
  ],
  ['another word', Type.Literal('all'), 'some', '"some" is not known; use all'],
  [
    'a misspelt word',
    Type.Union([Type.Literal('all'), Type.Integer()]),
    'al',
    'must be "all" or a whole number; got "al"; did you mean "all"?',
  ],
  ['a field too many', Titled, { port: 1, secret: 's', prt: 1 }, 'prt: is not a known field; did you mean "port"?'],
  ['a field too few', Titled, { secret: 's' }, 'port: is missing; add it, such as port: 4010'],
  ['one without an example', Titled, { port: 1 }, 'secret: is missing; add a string that looks like ^s'],
])('%s is said', (_what, schema, value, message) => {
  expect(complaints(schema, value)).toEqual([expect.stringContaining(message)])
})

test('a misspelt field is not missing as well, and no value of a secret one is repeated', () => {
  expect(complaints(Titled, { prt: 4010, secret: 's' })).toEqual(['prt: is not a known field; did you mean "port"?'])
  expect(complaints(Titled, { port: 1, secret: 'x' }, { secrets: ['secret'], docs: 'docs/x.md' })).toEqual([
    'secret: must be a string that looks like ^s; got another text; see docs/x.md',
  ])
})

test('no more than fifty are listed, each field once', () => {
  const wrong = Array.from({ length: 60 }, () => 'x')
  const found = complaints(Type.Array(Type.Integer({ minimum: 1 })), wrong)
  expect([found.length, found[49]]).toEqual([50, '[49]: must be a whole number of at least 1; got "x"'])
})
