import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderHtml } from '../../../src/verdict/render/html.ts'
import { NO_CHROMIUM, overflow, PageOpener, PHONE } from '../../helpers/open-page.ts'
import { FAINT_TEXTS } from './faint-texts.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'

test('is small, needs nothing from elsewhere, and runs nothing', () => {
  const page = renderHtml([sampleReport()])
  expect(Buffer.byteLength(page)).toBeLessThan(60 * 1024)
  expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=/i)
})

test.each(HOSTILE)('escapes whatever a client sent (%#)', (text) => {
  const page = renderHtml([sampleReport(text)])
  expect(page).not.toMatch(/<script|<img|<!\[CDATA|\p{Cs}|[^\P{Cc}\n]|[\u202e\u2066\u2028]/u)
  expect(Buffer.byteLength(page)).toBeLessThan(300_000)
})

test('the verdict comes first, then the money, the set-up, what was broken, what needs review, and folded the rest', () => {
  const page = renderHtml([sampleReport()])
  const headings = [...page.matchAll(/<h[12]>(.*?)</g)].map(([, text]) => text!.trim())
  expect(headings[0]).toMatch(/^A (dropped|repeated)/)
  expect(headings.slice(1)).toEqual([
    'What became of the money',
    'Set-up',
    'Broken',
    'Needs review',
    'Errored',
    'Kept',
    'Not tested',
    'Coverage',
  ])
  const folds = [...page.matchAll(/<details class="fold"><summary><h2>(.*?)</g)].map(([, text]) => text!.trim())
  expect(folds).toEqual(['Kept', 'Not tested', 'Coverage'])
})

test('the same key has the same colour in a diagram, and what was dropped a broken arrow', () => {
  const { exchanges } = sampleReport()
  const page = renderHtml([sampleReport()])
  const [diagram = ''] = /<figure class="seq".*?<\/figure>/s.exec(page) ?? []
  expect(exchanges).toHaveLength(3)
  expect([...diagram.matchAll(/<li class="(k\d)">/g)].map(([, colour]) => colour)).toEqual(['k0', 'k1'])
  expect(diagram.match(/class="way back lost"/g)).toHaveLength(1)
})

describe.skipIf(NO_CHROMIUM)('in Chromium', () => {
  let pages: PageOpener
  beforeAll(async () => {
    pages = await PageOpener.start()
  })
  afterAll(() => pages.stop())

  test.each([['alice'], ...HOSTILE.map((text) => [text])])(
    'a phone shows it without sideways scroll (%#)',
    async (text) => {
      const { seen, complaints } = await pages.open(renderHtml([sampleReport(text)]), PHONE, overflow)
      expect([seen, complaints]).toEqual([0, []])
    },
  )

  test('so do several reports, whose table may scroll by itself', async () => {
    const { seen, complaints } = await pages.open(renderHtml([sampleReport(), sampleReport()]), PHONE, overflow)
    expect([seen, complaints]).toEqual([0, []])
  })

  test.each(['light', 'dark'] as const)(
    'in the %s every text has a contrast of at least 4.5 to 1',
    async (colorScheme) => {
      const look = (page: Page) => page.evaluate<string[]>(FAINT_TEXTS)
      const options = { viewport: { width: 1200, height: 800 }, colorScheme }
      const { seen } = await pages.open(renderHtml([sampleReport()]), options, look)
      expect(seen).toEqual([])
    },
  )
})
