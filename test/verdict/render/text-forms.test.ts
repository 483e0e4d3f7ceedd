import { describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/verdict/render/markdown.ts'
import { renderText } from '../../../src/verdict/render/text.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'

describe('Markdown', () => {
  test('begins with the verdict, then the set-up, what failed in full, and the rest folded', () => {
    const text = renderMarkdown([sampleReport()])
    expect(text).toMatch(/^## ❌ Failed: /)
    const places = [
      '### Set-up',
      '### Contradicted',
      '### Needs review',
      '<summary>Proved',
      '<summary>Not exercised',
      '<summary>Coverage',
    ]
    const found = places.map((place) => text.indexOf(place))
    expect(found).toEqual(found.toSorted((a, b) => a - b))
    expect(found).not.toContain(-1)
    expect(text).toContain('`yield-sandbox exec --scenario dropped-deposit --seed 4711 -- <your test command>`')
  })

  test('several reports begin with a table', () => {
    expect(renderMarkdown([sampleReport(), sampleReport()])).toMatch(/^# yield-sandbox\n\n\| scenario \|/)
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
  test('shows what failed with its exchanges, and one line for the rest', () => {
    const text = renderText([sampleReport()])
    expect(text).toMatch(/^Failed: .*\n6 proved, 6 contradicted, 17 unproved \(dropped-deposit, seed 4711\)/)
    expect(text).toContain('→ connection reset [drop_connection at after_broadcast]')
    expect(text).not.toContain('\u001b')
  })

  test('has colours only when asked for', () => {
    expect(renderText([sampleReport()], { colour: true })).toContain('\u001b[31m')
  })

  test.each(HOSTILE)('obeys nothing that a client sent (%#)', (text) => {
    expect(renderText([sampleReport(text)])).not.toMatch(/[^\P{Cc}\n]|[\u202e\u2066\u2028]|\p{Cs}/u)
  })
})
