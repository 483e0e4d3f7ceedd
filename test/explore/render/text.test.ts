import { expect, test } from 'vitest'
import { renderExplorationText } from '../../../src/explore/render/text.ts'
import { HOSTILE } from '../../verdict/render/sample-report.ts'
import { resultOf, sampleExploration, sampleTrials } from './sample-exploration.ts'

const SURVIVED = { ...sampleExploration(), results: sampleTrials().map((trial) => resultOf(trial, 'survived')) }

/** The row of a hazard, its cells by their signs. */
function row(text: string, title: string): string[] {
  const line = text.split('\n').find((one) => one.startsWith(`${title}  `)) ?? ''
  return line.slice(title.length).trim().split(/\s+/)
}

test('a cell has the worst of its places, and how many of them; a blank is where nothing fits', () => {
  const text = renderExplorationText(sampleExploration())
  expect(text.split('\n')[0]).toMatch(/^ +pools +deposit$/)
  expect(row(text, 'reset after broadcast')).toEqual(['✗2'])
  expect(row(text, 'reset on request')).toEqual(['✓', '✓2'])
  expect(row(text, 'slow answer')).toEqual(['·', '·2'])
})

test('of places that differ, the worst are counted', () => {
  const [first, second] = sampleTrials().filter(({ id }) => id.endsWith(' revert'))
  const results = [resultOf(first!, 'survived'), resultOf(second!, 'paid_twice')]
  expect(row(renderExplorationText({ ...sampleExploration(), results, untried: null }), 'reverted')).toEqual(['✗1/2'])
})

test('a sign is of the level: what is milder than usual has that of what it costs, and hides nothing that costs more', () => {
  const [first, second] = sampleTrials().filter(({ id }) => id.endsWith(' revert'))
  const milder = resultOf(first!, 'left_open', { level: 'warning' })
  const textOf = (other: ReturnType<typeof resultOf>) =>
    renderExplorationText({ ...sampleExploration(), results: [milder, other], untried: null }, { verbose: true })
  const mild = textOf(resultOf(second!, 'left_open', { level: 'warning' }))
  expect(row(mild, 'reverted')).toEqual(['~2'])
  expect(mild).toContain('\n~ left open: ')
  expect(mild).toContain('\n~ deposit#1@alice revert: left open; ')
  expect(mild).not.toContain('?')
  expect(row(textOf(resultOf(second!, 'lucky')), 'reverted')).toEqual(['?1/2'])
  expect(row(textOf(resultOf(second!, 'left_open')), 'reverted')).toEqual(['?1/2'])
  expect(row(textOf(resultOf(second!, 'not_exercised')), 'reverted')).toEqual(['-1/2'])
})

test('what went wrong comes worst first, with what happened, why, the fix, and a command; alike ones once', () => {
  const text = renderExplorationText(sampleExploration())
  const heads = text.split('\n').filter((line) => /^[✗∞!] .*\((critical|serious)\)$/.test(line))
  expect(heads).toEqual([
    '✗ deposit#1@alice reset-after-broadcast: paid twice (critical)',
    '∞ list_pools#1 hang-on-request: hung (serious)',
    '∞ deposit#1@alice hang-on-request: hung (serious)',
    '! deposit#1@alice revert: made twice (serious)',
  ])
  expect(text).toContain('  alice: 2,000.00 USDC in aave-usdc instead of 1,000.00 (deposit of 1,000.00: twice')
  expect(text).toMatch(
    /\n {2}why {7}A dropped transfer was retried[^✗]*\n {2}fix {7}Make the Idempotency-Key once per operation/,
  )
  expect(text).toMatch(/also {6}after close after broadcast; and at 1 other place\n/)
  expect(text).toContain('  again     again -- alice\n')
})

test('other amounts of other users are the same mistake, lost money is not the same as paid twice', () => {
  const trials = sampleTrials().filter(({ id }) => id.endsWith(' revert'))
  const wrong = (sentence: string, i: number) => resultOf(trials[i]!, 'paid_twice', { sentences: [sentence] })
  const of = (first: string, second: string) => {
    const results = [wrong(first, 0), wrong(second, 1)]
    return renderExplorationText({ ...SURVIVED, results }).match(/^✗ deposit#/gm)?.length
  }
  const twice = (who: string, amount: string) => `${who}: 9.00 USDC in p (deposit of ${amount}: twice instead of once)`
  expect(of(twice('alice', '1.00'), twice('bob', '20.00'))).toBe(1)
  expect(of(twice('alice', '1.00'), 'bob: 9.00 USDC in p (deposit of 1.00: never instead of once)')).toBe(2)
})

test('the rest has a line each: what gave up, what never struck, what is open and why; the verdict comes last', () => {
  const text = renderExplorationText(sampleExploration(), { verbose: true })
  expect(text).toMatch(/^~ list_pools#1 proxy-page: gave up; the same money, but it failed\.$/m)
  expect(text).toMatch(/^- list_pools#1 unknown-fields: not exercised; the fault never struck\.$/m)
  expect(text).toMatch(/^\? list_pools#1 cut-json: errored; --before failed: alice\.$/m)
  expect(text).toMatch(/^Not tried: 3 more, 2 of them at transfers \(--max-runs 40\)\.$/m)
  expect(text).toMatch(/^npm left a process running: ended \(alice\)/m)
  const lines = text.trimEnd().split('\n')
  expect(lines.at(-1)).toMatch(
    /^Failed: money went astray in 6 of \d+ runs; 3 runs hung; your tests did not notice 9\.$/,
  )
  expect(text).toMatch(/^4 paid twice, 3 hung, 2 made twice, /m)
  expect(lines.slice(-4, -1).join(' ')).toMatch(
    /in 1 min 1 s, 2 at a time: 0\.2 s each, and 12 ms a run are the sandbox's own; seed 7\.$/,
  )
  const short = renderExplorationText(sampleExploration())
  expect(short).not.toContain('proxy-page: gave up')
  expect(short).toMatch(/^\? list_pools#1 cut-json: errored; --before failed: alice\.$/m)
  expect(short.split('\n').slice(-2)).toEqual([lines.at(-1), ''])
})

test('nothing but good is said in few words', () => {
  const text = renderExplorationText({
    ...SURVIVED,
    baseline: { ...SURVIVED.baseline, difference: null, left_behind: [] },
    untried: null,
  })
  expect(text).not.toMatch(/why|again|Not tried/)
  expect(text).toMatch(/Passed: \d+ faults struck, and no money went astray\./)
  expect(renderExplorationText({ ...SURVIVED, results: [], untried: null })).toMatch(
    /\nnothing was tried; [^!]*\nInconclusive: /,
  )
})

test('colours are an extra: without them every letter is the same', () => {
  const [plain, coloured] = [false, true].map((colour) => renderExplorationText(sampleExploration(), { colour }))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(coloured!.replace(/\u001b\[[\d;]+m/g, '')).toBe(plain)
  expect(coloured).toContain('\u001b[1;31m✗2\u001b[0m')
  expect(plain).not.toContain('\u001b')
})

test.each(['alice', ...HOSTILE])(
  'is at most 100 columns wide but for commands and giant words, and obeys nothing (%#)',
  (text) => {
    const lines = renderExplorationText(sampleExploration(text), { verbose: true }).split('\n')
    const wide = lines.filter((line) => line.length > 100 && !line.startsWith('  again'))
    expect(wide.filter((line) => !/^\S* ?\S{60,}|deposit#\d@/.test(line.trim()))).toEqual([])
    expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cs}\u202e\u2066\u2028]/u)
  },
)
