import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAINT_TEXTS } from '../verdict/render/faint-texts.ts'
import { NO_CHROMIUM, overflow, PageOpener, PHONE } from './open-page.ts'

/** Pages of one form: whole documents, each with what it is a page of. */
export type Pages = readonly (readonly [of: string, html: () => string])[]

/** Holds in Chromium, where there is one, that a phone shows each of these pages without sideways scroll or complaint. */
export function fitAPhone(pages: Pages): void {
  inChromium((open) => {
    test.each(pages)('a phone shows it without sideways scroll: %s', async (_, html) => {
      const { seen, complaints } = await open(html(), PHONE, overflow)
      expect([seen, complaints]).toEqual([0, []])
    })
  })
}

/** Holds there that every text of a page can be read in the light and in the dark, also what is folded. */
export function beLegible(html: () => string): void {
  inChromium((open) => {
    test.each(['light', 'dark'] as const)(
      'in the %s every text has a contrast of at least 4.5 to 1',
      async (colorScheme) => {
        const look = async (page: Page) => {
          await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true })`)
          return page.evaluate<string[]>(FAINT_TEXTS)
        }
        const { seen } = await open(html(), { viewport: { width: 1200, height: 800 }, colorScheme }, look)
        expect(seen).toEqual([])
      },
    )
  })
}

function inChromium(tests: (open: PageOpener['open']) => void): void {
  describe.skipIf(NO_CHROMIUM)('in Chromium', () => {
    let pages: PageOpener
    beforeAll(async () => {
      pages = await PageOpener.start()
    })
    afterAll(() => pages.stop())
    tests((...args) => pages.open(...args))
  })
}
