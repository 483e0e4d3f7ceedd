import { expect, test } from 'vitest'
import type { Finding, Impact } from '../../src/verdict/finding.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'

const INTRODUCTION = `# Findings

What the sandbox judges clients by. \`GET /_sandbox/report\` and \`yield-sandbox report\` say what came of each; [report.md](report.md) says
how a verdict is made of them. Made from \`src/verdict/findings/\` by \`npm run build:findings\`; do not edit it.

- **passed**: the situation arose, and the client did right. Never by silence.
- **failed**: it did wrong, and the exchanges prove it.
- **needs_review**: traffic alone cannot tell; the explanation says why.
- **not_exercised**: the situation never arose.
- **errored**: the judge itself failed, which is a mistake in the sandbox.

Where a command ends in \`…\`, \`-- npm test\` or whatever runs your tests follows.
`

const IMPACTS: Record<Impact, string> = {
  critical: 'Money moves twice, or nobody knows whether it moved.',
  serious: 'Users see failures that need not be, or something breaks with the next version.',
  minor: 'It works, and costs more than it has to.',
}

function entry({ id, title, failureTitle, rule, consequence, situation, exerciseWith, fix }: Finding): string {
  const command = ['yield-sandbox exec', exerciseWith, '…'].filter(Boolean).join(' ')
  const lines: [string, string][] = [
    ['Right', title],
    ['Wrong', failureTitle],
    ['Rule', rule],
    ['If it stays so', consequence],
    ['Judged after', situation],
    ['Try it', `\`${command}\``],
    ['Fix', fix],
  ]
  return [`### ${id}`, '', ...lines.map(([name, text]) => `- **${name}:** ${text.replaceAll('<', '\\<')}`), ''].join(
    '\n',
  )
}

test('docs/findings.md is the findings', async () => {
  const parts = (Object.keys(IMPACTS) as Impact[]).flatMap((impact) => {
    const found = FINDINGS.filter((finding) => finding.impact === impact)
    return [`## ${impact.charAt(0).toUpperCase()}${impact.slice(1)}\n\n${IMPACTS[impact]}\n`, ...found.map(entry)]
  })
  await expect([INTRODUCTION, ...parts].join('\n')).toMatchFileSnapshot('../../docs/findings.md')
})

test('every id has a finding, in the order of the ids', () => {
  expect(FINDINGS.map(({ id }) => id)).toEqual([...FINDING_IDS])
})
