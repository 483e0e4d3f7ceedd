import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkRule } from '../../src/faults/fault-rule.ts'
import { KINDS } from '../../src/faults/kinds/index.ts'

const page = readFileSync(new URL('../../docs/faults.md', import.meta.url), 'utf8')
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => [/^`(\w+)`/.exec(section)?.[1] ?? '', section] as const),
)

test('docs/faults.md describes every kind there is, and no other', () => {
  expect([...sections.keys()].sort()).toEqual(KINDS.map(({ kind }) => kind).sort())
})

describe.each(KINDS.map((kind) => [kind.kind, kind] as const))('docs/faults.md on %s', (name, kind) => {
  const section = sections.get(name) ?? ''

  test('has its phases, default first', () => {
    const [, phases = ''] = /^Phases: (.*)\.$/m.exec(section) ?? []
    expect(phases.split(', ').map((phase) => phase.replaceAll('`', ''))).toEqual(kind.phases)
  })

  test('has its parameters', () => {
    const rows = [...section.matchAll(/^\| `(\w+)` \| [^|\s]/gm)].map(([, parameter]) => parameter)
    expect(rows.sort()).toEqual(Object.keys(kind.with.properties).sort())
  })

  test('has an example that is sound', () => {
    const [, example = ''] = /```yaml\n(.*?)```/s.exec(section) ?? []
    expect(checkRule(parse(example), ['acme'])).toMatchObject({ kind: { kind: name } })
  })
})
