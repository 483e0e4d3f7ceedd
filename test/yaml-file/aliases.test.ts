import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { loadFixture } from '../../src/fixtures/load-fixture.ts'
import { loadScenario } from '../../src/scenarios/load-scenario.ts'
import { FileError } from '../../src/yaml-file/file-error.ts'
import { YamlSource } from '../../src/yaml-file/yaml-source.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { EMBEDDED } from '../fixtures/workbench.ts'

const TERMS = { what: 'a fixture', docs: 'docs/fixtures.md', sample: 'another' }
const read = (text: string) => new YamlSource('my.yaml', text, TERMS)

function refusal(text: string): string {
  try {
    read(text)
  } catch (error) {
    if (error instanceof FileError) return error.message
    throw error
  }
  return expect.fail('it was read')
}

describe('aliases', () => {
  it('stand for the last value before them that was given the name', () => {
    const text = 'a: &x 1\nb: *x\nc: &x [2, &y {d: 3}]\nd: [*x, *y]\ne: &x [&x 4, *x]\nf: *x'
    const c = [2, { d: 3 }]
    expect(read(text).data).toEqual({ a: 1, b: 1, c, d: [c, { d: 3 }], e: [4, 4], f: 4 })
  })

  it('are many enough for a fixture', () => {
    const text = `a: &a {b: [1, 2, 3]}\nc: [${'*a,'.repeat(900)}]`
    expect(read(text).data).toMatchObject({ c: { length: 900, 899: { b: [1, 2, 3] } } })
  })

  it.each([
    ['no anchor', 'a: 1\nb: *nope', '2:4: has an alias (*name) of no anchor before it. Fix: put the anchor'],
    ['a later anchor', 'a: *b\nb: &b 1', '1:4: has an alias (*name) of no anchor before it.'],
    ['itself', 'a: &a\n  - *a', '2:5: has an alias (*name) within the value it stands for.'],
    ['its parent', 'a: &a {b: {c: &c [*a]}}', '1:19: has an alias (*name) within the value it stands for.'],
    ['what stands for its parent', 'a: &a\n  b: &b 1\n  c: [*b, *a]', '3:11: has an alias (*name) within the value'],
  ])('of %s are refused with their place', (_, text, expected) => {
    expect(refusal(text)).toContain(`my.yaml:${expected}`)
  })
})

/** As many bytes of these lines as it says. */
function lines(bytes: number, line: (n: number) => string): string {
  const made: string[] = []
  for (let n = 0, size = 0; size < bytes; n++) size += made[made.push(line(n)) - 1]!.length
  return made.join('')
}

/** A list that names each of many anchors once. */
function anchorsOnce(count: number): string {
  const many = Array.from({ length: count }, (_, n) => n)
  return `a:\n${many.map((n) => ` - &a${n} 1\n`).join('')}b:\n${many.map((n) => ` - *a${n}\n`).join('')}`
}

const TOO_MANY = /:1002:\d+: has over 1000 anchors \(&name\) and aliases \(\*name\)\. Fix: /
/** What took from seconds to forever. */
const BOMBS: [name: string, text: string, expected: RegExp][] = [
  ['each of many anchors once', anchorsOnce(10_000), TOO_MANY],
  ['one anchor very often', `a: &a [x]\nb:\n${lines(2 ** 17, () => ' - *a\n')}`, /:1002:4: has over 1000 anchors/],
  [
    'ten times what stands for ten times',
    `a0: &a0 [x]\n${lines(2000, (n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(10)}]\n`)}`,
    /:6:\d+: has aliases \(\*name\) that stand for over 100000 values\. Fix: /,
  ],
  [
    'twice what stands for twice, very deep',
    `a0: &a0 [x]\n${lines(8000, (n) => `a${n + 1}: &a${n + 1} [*a${n},*a${n}]\n`)}`,
    /:16:\d+: has aliases \(\*name\) that stand for over 100000 values/,
  ],
  ['a large value often', `a: &a [${'1,'.repeat(50_000)}]\nb: [*a,*a,*a]`, /:2:8: has aliases/],
]

const written = (name: string, text: string) => {
  const file = join(temporaryDirectory(), name)
  writeFileSync(file, text)
  return file
}

test.each(BOMBS)('a fixture with %s is refused at once, with its place', async (_, text, expected) => {
  await expect(loadFixture(written('my.yaml', text), { embedded: EMBEDDED })).rejects.toThrow(expected)
})

test('a scenario of aliases too', async () => {
  await expect(loadScenario(written('my.yaml', anchorsOnce(4_000)))).rejects.toThrow(TOO_MANY)
})

test('a JSON file of aliases too', async () => {
  const many = Array.from({ length: 4_000 }, (_, n) => n)
  const text = `{"a": [${many.map((n) => `&a${n} 1`)}], "b": [${many.map((n) => `*a${n}`)}]}`
  const loading = loadFixture(written('my.json', text), { embedded: EMBEDDED })
  await expect(loading).rejects.toThrow(/my\.json:1:\d+: has over 1000 anchors/)
})

test('thousands of duplicate keys are told as fifty', () => {
  expect(refusal(lines(2 ** 14, () => 'k: 1\n')).split('\n')).toHaveLength(50)
})
