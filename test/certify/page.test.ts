import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { renderPage } from '../../src/certify/render/render-page.ts'
import { NO_CHROMIUM, overflow, PageOpener, PHONE } from '../helpers/open-page.ts'
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
  expect(page).not.toMatch(/<img|<!\[CDATA/)
})

test('says the worst first', () => {
  const headings = [...pageOf().matchAll(/<h[12]>(.*?)</g)].map(([, text]) => text!.trim())
  expect(headings).toEqual([
    '1 finding is contradicted; money went astray or the command hung in 1 of 3 runs with a fault.',
    'Contradicted',
    'Money',
    'Every fault at every place',
    'Scenarios',
    'Proved',
    'Unproved',
  ])
})

test('says what shows a contradiction again: in the same sandbox, without what only certify knows', () => {
  const flags = [
    '--timeout',
    '60000ms',
    '--before',
    'true',
    '--tolerate',
    '--fixtures',
    'ours.yaml',
    '--env',
    'URL=YIELD_URL',
  ]
  const page = renderPage(certificateOf({ ...sampleEvidence(), flags }))
  const same = '--seed 1 --fixtures ours.yaml --env URL=YIELD_URL -- npm test'
  expect(page).toContain(`<code>yield-sandbox exec --scenario dropped-deposit ${same}</code>`)
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
