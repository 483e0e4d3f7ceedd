import { describe, expect, test } from 'vitest'
import type { AssumptionResult, Exploration } from '../../../src/explore/exploration.ts'
import { renderExploration } from '../../../src/explore/render/render-exploration.ts'
import { HOSTILE } from '../../verdict/render/sample-report.ts'
import { parseXml } from '../../verdict/render/xml.ts'
import { sampleExploration } from './sample-exploration.ts'

describe('JSON', () => {
  test('has the summary first, then the exploration; nothing of how it was planned', () => {
    const exploration = sampleExploration()
    const read = JSON.parse(renderExploration('json', exploration))
    expect(Object.keys(read).slice(0, 4)).toEqual(['verdict', 'summary', 'headline', 'counts'])
    expect(read).toMatchObject({
      verdict: 'failed',
      summary: expect.stringMatching(/^Failed: money went astray/),
      counts: { paid_twice: 4, hung: 3, made_twice: 2, errored: 3, gave_up: 3, not_exercised: 3 },
      ...exploration,
    })
    expect(Object.keys(read.results[0].trial.harms[0].hazard)).toEqual(['id', 'title', 'rule'])
  })
})

describe('JUnit', () => {
  const suiteOf = (text?: string) => parseXml(renderExploration('junit', sampleExploration(text))).children[0]!

  test('has a case for each trial, those that were not tried as well, and counts them', () => {
    const { results, untried } = sampleExploration()
    const { attributes, children } = suiteOf()
    const having = (name: string) => children.filter((one) => one.children.some((child) => child.name === name)).length
    expect(children).toHaveLength(results.length + untried!.trials.length)
    expect(attributes).toMatchObject({
      tests: String(children.length),
      failures: String(having('failure')),
      errors: String(having('error')),
      skipped: String(having('skipped')),
    })
    expect([having('failure'), having('error'), having('skipped')]).toEqual([9, 3, 6])
  })

  test('says what happened, why, and how to see it again', () => {
    const failed = suiteOf().children.find(
      ({ attributes }) => attributes.name === 'deposit#2@alice reset-after-broadcast',
    )!
    expect(failed.attributes.classname).toBe('yield-sandbox.explore.deposit')
    expect(failed.children[0]).toMatchObject({
      name: 'failure',
      attributes: { type: 'paid_twice', message: expect.stringContaining('moved money more than once') },
      text: expect.stringMatching(
        /twice instead of once\)\nWhy: A dropped transfer.*\nFix: Make.*\nAgain: again -- alice/,
      ),
    })
  })

  test.each(HOSTILE)('is well-formed whatever the command is called (%#)', (text) => {
    expect(suiteOf(text).name).toBe('testsuite')
  })
})

describe('Markdown', () => {
  test('has the verdict, what went wrong, the matrix and its legend', () => {
    const text = renderExploration('markdown', sampleExploration())
    expect(text).toMatch(/^## ❌ Failed: money went astray in 6 of \d+ runs/)
    expect(text).toContain('| reset after broadcast |  | ✗2 |')
    expect(text).toMatch(/- \*\*Also:\*\* after close after broadcast; and at 1 other place\n/)
    expect(text).toMatch(/^✗ paid twice, ∞ hung, /m)
  })

  test.each(HOSTILE)('has nothing live in it whatever the command is called (%#)', (text) => {
    const words = renderExploration('markdown', sampleExploration(text)).replace(/(`+)(?!`).*?[^`]\1(?!`)/g, '')
    expect(words).not.toMatch(/(?<!\\)<|(?<!\\)\]\(|(?<!\\)!\[|(?<!\\)@everyone|(?<!\\):\/\/evil|(?<!\\)`code/)
    expect(words).not.toMatch(/[^\P{Cc}\n]|[\u202e\u2066\u2028]/u)
  })
})

describe('other settings of the service', () => {
  const exploration = withAssumptions()

  test('stand in a chapter of their own, the worst first, with what they mean and how to see it again', () => {
    const page = renderExploration('html', exploration)
    expect(page).toContain('Other settings of the service')
    expect(page).toContain('A deposit and a withdrawal are answered 201.')
    expect(page.indexOf('transfer_status=201')).toBeLessThan(page.indexOf('idp_scopes=two'))
    const text = renderExploration('text', exploration)
    expect(text).toMatch(/^\? transfer_status=201: broke \(review\)\. A deposit and a withdrawal are answered 201\.$/m)
    expect(text).toMatch(/^ {2}again {5}yield-sandbox explore --trial /m)
    const markdown = renderExploration('markdown', exploration)
    expect(markdown).toMatch(/^\| \? broke \| `transfer_status=201` \| your client ended with code 1 \|$/m)
    const { assumptions, assumption_outcomes } = JSON.parse(renderExploration('json', exploration))
    expect(assumptions).toEqual(exploration.assumptions)
    expect(Object.keys(assumption_outcomes)).toEqual(['breaks', 'not_met', 'survived'])
  })

  test.each(HOSTILE)('are well-formed whatever a run says (%#)', (text) => {
    const suite = parseXml(renderExploration('junit', withAssumptions(text))).children[0]!
    expect(
      suite.children.filter((one) => one.attributes.classname === 'yield-sandbox.explore.assumptions'),
    ).toHaveLength(3)
    expect(renderExploration('text', withAssumptions(text))).not.toContain('\u001b')
  })
})

function withAssumptions(text = 'your client ended with code 1'): Exploration {
  const of = (
    setting: string,
    value: string,
    outcome: AssumptionResult['outcome'],
    level: AssumptionResult['level'],
  ) => ({
    ...{ id: `assumption ${setting}=${value}`, setting, value, outcome, level, sentences: [text] },
    means: 'A deposit and a withdrawal are answered 201.',
    ...{ operations: [], findings: [], end: '0', took_ms: 5, overhead_ms: 1 },
    repeat: `yield-sandbox explore --trial 'assumption ${setting}=${value}' -- npm test`,
  })
  const assumptions: AssumptionResult[] = [
    of('idp_scopes', 'two', 'survived', 'ok'),
    of('transfer_status', '201', 'breaks', 'review'),
    of('user_token_leeway', '0', 'not_met', 'none'),
  ]
  return { ...sampleExploration(), results: [], untried: null, assumptions }
}
