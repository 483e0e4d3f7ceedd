import { expect, test } from 'vitest'
import { MANIFEST } from '../../src/fidelity/manifest.ts'
import type { FidelityRow } from '../../src/fidelity/row.ts'

const INTRODUCTION = `# Fidelity

How the sandbox stands to the specification, rule by rule. \`GET /_sandbox/fidelity\` has the same as data, with the settings that
are active. Made from \`src/fidelity/\` by \`npm run build:fidelity\`; do not edit it.

- **exact**: as the specification says.
- **assumed**: the specification is silent, or leaves a choice; the sandbox chose. A partner must not take it for the service's word.
- **absent**: the sandbox has nothing of the kind; the rule says what a client gets instead.

In \`/openapi.json\` every status, code, header, bound and enumeration carries \`x-source: specification\`, or \`x-assumption\` with
ids of this page.
`

const PARTS: [title: string, belongs: (row: FidelityRow) => boolean][] = [
  ['The specification', ({ source }) => source === 'specification'],
  ['What the specification leaves open, and what it does not mention', ({ kind }) => kind === 'assumed'],
  ['What live services have and the sandbox has not', ({ kind }) => kind === 'absent'],
]

/** A part's rows: a table that any Markdown reader shows. */
function table(rows: readonly FidelityRow[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '\\<')
  const lines = rows.map(({ id, kind, about, rule, source, setting, test }) => {
    const from = [source === 'specification' ? '' : source, setting ? `\`${setting}\`` : ''].filter(Boolean).join('; ')
    const held = `\`${test.path.replace('test/', '')}\`: ${cell(test.name)}`
    return `| \`${id}\` | ${kind} | ${cell(about)} | ${cell(rule)} | ${cell(from)} | ${held} |`
  })
  return [
    '| id | kind | about | rule | source, setting | test |',
    '| --- | --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}

test('docs/fidelity.md is the manifest', async () => {
  let left = MANIFEST
  const parts = PARTS.map(([title, belongs]) => {
    const rows = left.filter(belongs)
    left = left.filter((row) => !belongs(row))
    return `## ${title}\n\n${rows.length} rows.\n\n${table(rows)}\n`
  })
  expect(left).toEqual([])
  await expect([INTRODUCTION, ...parts].join('\n')).toMatchFileSnapshot('../../docs/fidelity.md')
})
