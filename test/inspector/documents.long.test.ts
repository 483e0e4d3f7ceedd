import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { renderPage } from '../../src/certify/render/document-of.ts'
import { renderExploration } from '../../src/explore/render/render-exploration.ts'
import { renderReports } from '../../src/verdict/render/render-reports.ts'
import { sampleEvidence } from '../certify/sample-evidence.ts'
import { sampleExploration } from '../explore/render/sample-exploration.ts'
import { axeFindings } from '../helpers/axe.ts'
import { NO_CHROMIUM, overflow, PageOpener, PHONE } from '../helpers/open-page.ts'
import { sampleReport } from '../verdict/render/sample-report.ts'

const reports = [sampleReport(), { ...sampleReport(), scenario: 'second' }]
const PAGES = {
  report: renderReports('html', reports.slice(0, 1)),
  'several reports': renderReports('html', reports),
  exploration: renderExploration('html', sampleExploration()),
  certificate: renderPage(certificateOf(sampleEvidence())),
}
const LOOKS: BrowserContextOptions[] = (['light', 'dark'] as const).flatMap((colorScheme) => [
  { colorScheme, viewport: { width: 1280, height: 900 } },
  { colorScheme, ...PHONE },
])

// Where there is no Chromium, its part is left out.
describe.skipIf(NO_CHROMIUM)('a page from a file, offline', () => {
  let opener: PageOpener
  beforeAll(async () => {
    opener = await PageOpener.start()
  })
  afterAll(() => opener.stop())

  const unfold = (page: Page) =>
    page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true })`)

  test.each(Object.entries(PAGES))('axe finds nothing in it, light and dark, wide and narrow: %s', async (_, html) => {
    for (const look of LOOKS) {
      const { seen, complaints } = await opener.open(html, { ...look, offline: true }, async (page) => {
        await unfold(page)
        return { findings: await axeFindings(page), wider: await overflow(page) }
      })
      expect([seen, complaints]).toEqual([{ findings: [], wider: 0 }, []])
    }
  })

  test('folds open by a click and by the keyboard, without any script', async () => {
    const { seen } = await opener.open(PAGES.report, { javaScriptEnabled: false }, async (page) => {
      const kept = page.locator('details.fold', { hasText: 'Kept' })
      const before = await kept.getAttribute('open')
      await kept.locator('summary').first().click()
      const clicked = await kept.getAttribute('open')
      await page.keyboard.press('Enter')
      return [before, clicked, await kept.getAttribute('open')]
    })
    expect(seen).toEqual([null, '', null])
  })

  test('on paper everything is dark on white, and no card is torn', async () => {
    const { seen } = await opener.open(PAGES.report, { colorScheme: 'dark' }, async (page) => {
      await page.emulateMedia({ media: 'print' })
      return page.evaluate<string[]>(`[
        getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.body).color,
        getComputedStyle(document.querySelector('article.card')).breakInside,
      ]`)
    })
    expect(seen).toEqual(['rgb(255, 255, 255)', 'rgb(0, 0, 0)', 'avoid'])
  })
})
