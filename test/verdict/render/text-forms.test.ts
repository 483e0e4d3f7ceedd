import { describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/verdict/render/markdown.ts'
import { renderReportText } from '../../../src/verdict/render/text.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'

describe('Markdown', () => {
  test('begins with the verdict, then the set-up, what failed in full, and the rest folded', () => {
    const text = renderMarkdown([sampleReport()])
    expect(text).toMatch(/^## ❌ Failed: /)
    const places = [
      '### What became of the money',
      '### Set-up',
      '### Broken',
      '### Needs review',
      '<summary>Kept',
      '<summary>Not tested',
      '<summary>Coverage',
    ]
    const found = places.map((place) => text.indexOf(place))
    expect(found).toEqual(found.toSorted((a, b) => a - b))
    expect(found).not.toContain(-1)
    expect(text).toContain('`yield-sandbox exec --scenario dropped-deposit --seed 4711 -- <your test command>`')
  })

  test('several reports begin with their sum, a table, and the rules by scenario', () => {
    const text = renderMarkdown([sampleReport(), { ...sampleReport(), scenario: 'flaky-network' }])
    expect(text).toMatch(/^# yield-sandbox\n\n❌ .*\d+ rules kept, \d+ broken, \d+ not tested\*\*\n\n\| scenario \|/)
    expect(text).toContain('| rule | dropped-deposit | flaky-network |')
    expect(text).toContain('| `idempotency-key-on-retry` | ✗ | ✗ |')
  })

  test.each(HOSTILE)('a client’s words are nothing but words (%#)', (text) => {
    const outsideOfCode = renderMarkdown([sampleReport(text)]).replace(/(`+)(?!`).*?[^`]\1(?!`)/g, '')
    const ownTags = outsideOfCode.replace(/<\/?(details|summary)>/g, '')
    expect(ownTags).not.toMatch(/(?<!\\)<|(?<!\\)\]\(|(?<!\\)!\[|(?<!\\)@everyone|(?<!\\):\/\/evil|(?<!\\)`code/)
    expect(ownTags).not.toMatch(/[^\P{Cc}\n]|[\u202e\u2066\u2028]/u)
    for (const line of ownTags.split('\n').filter((row) => row.startsWith('| '))) {
      expect(line.match(/(?<!\\)\|/g)).toHaveLength(6)
    }
    expect(renderMarkdown([sampleReport(text)]).length).toBeLessThan(200_000)
  })
})

describe('a terminal', () => {
  test('shows the money first, every broken rule with its fix, and the verdict last', () => {
    const text = renderReportText([sampleReport()])
    expect(text).toMatch(/^✗ alice's deposit .*, and was carried out\n {2}both times\. \(critical\)\n\? alice's/)
    const { findings } = sampleReport()
    for (const { id, outcome, fix = '' } of findings.filter((finding) => finding.outcome === 'failed')) {
      expect([id, outcome, text.replace(/\s+/g, ' ')]).toEqual([id, 'failed', expect.stringContaining(`fix ${fix}`)])
    }
    expect(text.match(/^ {2}again .*$/gm)).toEqual([expect.stringMatching(/--scenario dropped-deposit --seed 4711/)])
    expect(text).toMatch(/✓ 2 operations told, 1 found in the list\.\n/)
    expect(text).toMatch(
      /\d rules kept, \d broken, \d+ not tested \(.*\); --verbose lists them\.\nFailed: [\s\S]*\.\n$/,
    )
    expect(text).not.toMatch(/Coverage|→ connection reset/)
    expect(text).not.toContain('\u001b')
  })

  test('says of what passed no more than a few lines', () => {
    const { operations, findings, ...report } = sampleReport()
    const passed = { verdict: 'passed' as const, summary: 'Passed: 6 rules kept, none broken.', unmet: [] as string[] }
    const kept = findings.filter(({ outcome }) => outcome === 'passed')
    const told = operations.filter(({ level }) => level === 'ok')
    const all = {
      ...report,
      ...passed,
      configuration: [],
      findings: kept,
      operations: told,
      proved: 6,
      contradicted: 0,
      unproved: 23,
    }
    expect(renderReportText([all]).split('\n')).toEqual([
      '✓ 2 operations told, 1 found in the list.',
      '6 rules kept, 0 broken, 23 not tested (dropped-deposit, seed 4711); --verbose lists them.',
      'Passed: 6 rules kept, none broken.',
      '',
    ])
  })

  test('says once what needs review, and nothing of the very requests that made something fail', () => {
    const { findings, operations, ...report } = sampleReport()
    const [open] = findings.filter(({ outcome }) => outcome === 'needs_review')
    const grave = operations.filter(({ level }) => level === 'critical')
    const shown = (money: typeof operations) => {
      const unmet = [`The critical finding ${open?.id} needs review.`]
      const named = open ? [{ ...open, impact: 'critical' as const, request_ids: ['req_1'] }] : []
      return renderReportText([{ ...report, findings: named, operations: money, unmet }]).match(/^.*needs review.*$/gm)
    }
    expect(shown([])).toEqual([expect.stringMatching(/^\? /)])
    expect(shown(grave.map((one) => ({ ...one, request_ids: ['req_2'] })))).toHaveLength(1)
    expect(shown(grave.map((one) => ({ ...one, request_ids: ['req_1', 'req_2'] })))).toBeNull()
  })

  test('is wrapped to its width, but for command lines', () => {
    for (const width of [60, 100]) {
      const lines = renderReportText([sampleReport()], { width }).split('\n')
      expect(lines.filter((line) => line.length > width && !line.startsWith('  again'))).toEqual([])
    }
  })

  test('shows everything when asked to', () => {
    const text = renderReportText([sampleReport()], { verbose: true })
    expect(text).toContain('→ connection reset [drop_connection at after_broadcast]')
    for (const chapter of ['Kept', 'Not tested', 'Coverage']) expect(text).toContain(`\n${chapter}\n`)
    expect(text).toMatch(/\d rules kept, \d broken, \d+ not tested \(.*\)\.\nFailed: /)
  })

  test('has colours only when asked for', () => {
    expect(renderReportText([sampleReport()], { colour: true })).toContain('\u001b[31m')
  })

  test.each(HOSTILE)('obeys nothing that a client sent (%#)', (text) => {
    expect(renderReportText([sampleReport(text)], { verbose: true })).not.toMatch(
      /[^\P{Cc}\n]|[\u202e\u2066\u2028]|\p{Cs}/u,
    )
  })
})
