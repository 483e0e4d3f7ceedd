import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { renderPage } from '../../src/certify/render/document-of.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { NO_CHROMIUM, overflow, PageOpener, PHONE } from '../helpers/open-page.ts'
import { headingsOf, shownOf } from '../helpers/page-data.ts'
import { FAINT_TEXTS } from '../verdict/render/faint-texts.ts'
import { HOSTILE } from '../verdict/render/sample-report.ts'
import { sampleEvidence } from './sample-evidence.ts'

const pageOf = (text?: string) => renderPage(certificateOf(sampleEvidence(text)))

test('needs nothing from elsewhere, and has no script but its data', () => {
  const page = pageOf()
  expect(page).not.toMatch(/<link|<img|<iframe|@import|url\(|\son\w+=/i)
  expect(page.match(/<script[^>]*>/g)).toEqual(['<script type="application/json" id="certificate">'])
})

test.each(HOSTILE)('nothing that comes from outside ends the data or begins an element (%#)', (text) => {
  const page = pageOf(text)
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page.match(/<\/script/g)).toHaveLength(1)
  expect(shownOf(page)).not.toMatch(/<img|<!\[CDATA/)
})

test('says the worst first', () => {
  expect(headingsOf(pageOf())).toEqual([
    '1 rule is broken; money went astray or the command hung in 1 of 3 runs with a fault; money went astray in 1 of 3 scenarios.',
    'Broken',
    'Money',
    'Every fault at every operation',
    'Scenarios',
    'Rules by scenario',
    'Not tested',
  ])
})

test('one cause is one card, which says where else it was seen', () => {
  const cards = (page: string) => page.match(/<h3>(?:deposit|withdraw)#1@npm /g)
  const page = pageOf()
  expect(cards(page)).toHaveLength(1)
  expect(page).toContain('<summary>Also at withdraw (hangs on request)</summary>')
  expect(shownOf(page)).toContain("--trial 'withdraw#1 hang-on-request'")
  const [first, second] = sampleEvidence().exploration.incidents
  const other = { ...second!, findings: [], sentences: ['npm: something else'] }
  const exploration = { ...sampleEvidence().exploration, incidents: [first!, other] }
  const two = renderPage(certificateOf({ ...sampleEvidence(), exploration }))
  expect(cards(two)).toHaveLength(2)
  expect(two).not.toContain('Also at')
})

test('a table has every rule in every scenario', () => {
  const rows = [...pageOf().matchAll(/<tr><th scope="row">[^<]+ <small>([^<]*)<\/small><\/th>(.*?)<\/tr>/g)]
  expect(rows.map(([, id]) => id)).toEqual(FINDING_IDS)
  const cells = rows.map(([, , text]) => [...text!.matchAll(/aria-label="([^"]*)">(.)</g)].map(([, ...cell]) => cell))
  expect(cells.slice(0, 3)).toEqual([
    [
      ['Broken', '✗'],
      ['Kept', '✓'],
      ['Needs review', '?'],
    ],
    [
      ['Kept', '✓'],
      ['Kept', '✓'],
      ['Not tested', '·'],
    ],
    Array.from({ length: 3 }, () => ['Not tested', '·']),
  ])
})

test('says how the command ended in each scenario, and which of its operations are not well', () => {
  const page = pageOf('alice')
  expect(page).toContain('<td><b class="ok">failed, as it may: code 1</b></td>')
  expect(page).toContain('<div>2 × deposit of alice: paid twice (critical)</div>')
  expect(page).toContain('<div>deposit: refused, and told (note)</div>')
})

test('says what shows a broken rule again: in the same sandbox, prepared alike, without what only certify knows', () => {
  const same = ['--timeout', '60000ms', '--before', 'npm run reset', '--restarts', '1', '--env', 'URL=YIELD_URL']
  const page = renderPage(certificateOf({ ...sampleEvidence(), flags: ['--tolerate', ...same] }))
  const flags = "--seed 1 --timeout 60000ms --before 'npm run reset' --restarts 1 --env URL=YIELD_URL"
  expect(page).toContain(`<code>yield-sandbox exec --scenario dropped-deposit ${flags} -- npm test</code>`)
  const bare = renderPage(certificateOf({ ...sampleEvidence(), flags: ['--tolerate'] }))
  expect(bare).toContain('<code>yield-sandbox exec --scenario dropped-deposit --seed 1 -- npm test</code>')
})

// Where there is no Chromium, its part is left out.
describe.skipIf(NO_CHROMIUM)('in Chromium', () => {
  let opener: PageOpener
  beforeAll(async () => {
    opener = await PageOpener.start()
  })
  afterAll(() => opener.stop())

  const looks: [string, BrowserContextOptions][] = (['light', 'dark'] as const).flatMap((colorScheme) => [
    [`${colorScheme}, on a desk`, { colorScheme, viewport: { width: 1280, height: 900 } }],
    [`${colorScheme}, on a phone`, { colorScheme, ...PHONE }],
  ])

  test.each(looks)('is readable: %s', async (_, options) => {
    const { seen, complaints } = await opener.open(pageOf(), options, async (page) => ({
      verdict: await page.locator('.verdict').textContent(),
      first: await page.locator('h1').isVisible(),
      data: await page.locator('#certificate').isVisible(),
      wider: await overflow(page),
      faint: await page.evaluate(FAINT_TEXTS),
    }))
    expect(complaints).toEqual([])
    expect(seen).toEqual({ verdict: 'failed', first: true, data: false, wider: 0, faint: [] })
  })

  test.each(HOSTILE)('runs nothing that a command line brings (%#)', async (text) => {
    const evidence = sampleEvidence(text)
    const { seen, complaints } = await opener.open(renderPage(certificateOf(evidence)), {}, (page) =>
      page.evaluate<unknown>('JSON.parse(document.getElementById("certificate").textContent).evidence'),
    )
    expect(complaints).toEqual([])
    expect(seen).toEqual(evidence)
  })
})
