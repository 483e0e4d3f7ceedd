import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderHtml } from '../../../src/explore/render/html.ts'
import { NO_CHROMIUM, overflow, PageOpener, PHONE } from '../../helpers/open-page.ts'
import { FAINT_TEXTS } from '../../verdict/render/faint-texts.ts'
import { HOSTILE } from '../../verdict/render/sample-report.ts'
import { sampleExploration } from './sample-exploration.ts'

test('is small, needs nothing from elsewhere, and runs nothing', () => {
  const page = renderHtml(sampleExploration())
  expect(Buffer.byteLength(page)).toBeLessThan(60 * 1024)
  expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=/i)
})

test('the verdict comes first, then the matrix, what went wrong, what is to be known, what is open', () => {
  const page = renderHtml(sampleExploration())
  const headings = [...page.matchAll(/<h[12]>(.*?)</g)].map(([, text]) => text!.trim())
  expect(headings[0]).toMatch(/^Money went astray in 6 of \d+ runs/)
  expect(headings.slice(1)).toEqual(['Every fault at every place', 'Went wrong', 'To be known', 'Left open'])
})

test('a cell says in words what its sign and its colour say', () => {
  const page = renderHtml(sampleExploration())
  expect(page).toContain(
    '<td class="cell paid_twice" title="paid twice: all 2" aria-label="paid twice: all 2">✗ 2</td>',
  )
})

test('alike failures are one, with the commands of all', () => {
  const page = renderHtml(sampleExploration())
  const [article = ''] = /<article class="paid_twice">.*?<\/article>/s.exec(page) ?? []
  expect(article).toContain('<h3>deposit#1@alice reset-after-broadcast</h3>')
  expect(article).toContain('<summary>their 3 commands</summary>')
  expect(article.match(/again -- alice/g)).toHaveLength(4)
})

test.each(HOSTILE)('escapes whatever the command is called (%#)', (text) => {
  const page = renderHtml(sampleExploration(text))
  expect(page).not.toMatch(/<script|<img|<!\[CDATA|\p{Cs}|[^\P{Cc}\n]|[\u202e\u2066\u2028]/u)
  expect(Buffer.byteLength(page)).toBeLessThan(300_000)
})

describe.skipIf(NO_CHROMIUM)('in Chromium', () => {
  let pages: PageOpener
  beforeAll(async () => {
    pages = await PageOpener.start()
  })
  afterAll(() => pages.stop())

  test.each(['alice', ...HOSTILE])('a phone shows it without sideways scroll (%#)', async (text) => {
    const { seen, complaints } = await pages.open(renderHtml(sampleExploration(text)), PHONE, overflow)
    expect([seen, complaints]).toEqual([0, []])
  })

  test.each(['light', 'dark'] as const)(
    'in the %s every text has a contrast of at least 4.5 to 1',
    async (colorScheme) => {
      const look = async (page: Page) => {
        await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true })`)
        return page.evaluate<string[]>(FAINT_TEXTS)
      }
      const options = { viewport: { width: 1200, height: 800 }, colorScheme }
      const { seen } = await pages.open(renderHtml(sampleExploration()), options, look)
      expect(seen).toEqual([])
    },
  )
})
