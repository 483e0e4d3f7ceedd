import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderHtml } from '../../../src/verdict/render/html.ts'
import type { Report } from '../../../src/verdict/report.ts'
import { installedChromium } from '../../helpers/installed-chromium.ts'
import { FAINT_TEXTS } from './faint-texts.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'

const PHONE = { width: 390, height: 844 }
const executablePath = installedChromium()

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

test('the verdict comes first, then the set-up, what failed, what needs review, what was proved, what is open, the coverage', () => {
  const page = renderHtml([sampleReport()])
  const headings = [...page.matchAll(/<h[12]>(.*?)</g)].map(([, text]) => text!.trim())
  expect(headings[0]).toMatch(/^A (dropped|repeated)/)
  expect(headings.slice(1)).toEqual([
    'Set-up',
    'Contradicted',
    'Needs review',
    'Errored',
    'Proved',
    'Not exercised',
    'Coverage',
  ])
})

test('the same key has the same colour in a diagram, and what was dropped a broken arrow', () => {
  const { exchanges } = sampleReport()
  const page = renderHtml([sampleReport()])
  const [diagram = ''] = /<figure class="seq".*?<\/figure>/s.exec(page) ?? []
  expect(exchanges).toHaveLength(3)
  expect([...diagram.matchAll(/<li class="(k\d)">/g)].map(([, colour]) => colour)).toEqual(['k0', 'k1'])
  expect(diagram.match(/class="way back lost"/g)).toHaveLength(1)
})

// Where there is no Chromium, its part is left out.
describe.skipIf(executablePath === undefined)('in Chromium', () => {
  let browser: Browser
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-report-'))
    browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  })
  afterAll(() => Promise.all([browser.close(), rm(directory, { recursive: true })]))

  /** Opens the page from a file; resolves with what looking at it brought, and what the page complained of. */
  async function opened<T>(reports: Report[], options: BrowserContextOptions, look: (page: Page) => Promise<T>) {
    const file = join(directory, 'report.html')
    await writeFile(file, renderHtml(reports))
    const context = await browser.newContext(options)
    const complaints: string[] = []
    const page = await context.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => complaints.push(dialog.message()))
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) complaints.push(request.url())
    })
    const url = pathToFileURL(file).href
    await page.goto(url)
    const seen = await look(page)
    await context.close()
    return { seen, complaints }
  }

  const overflow = (page: Page) =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

  test.each([['alice'], ...HOSTILE.map((text) => [text])])(
    'a phone shows it without sideways scroll (%#)',
    async (text) => {
      const report = sampleReport(text)
      const { seen, complaints } = await opened([report], { viewport: PHONE }, overflow)
      expect([seen, complaints]).toEqual([0, []])
    },
  )

  test('so do several reports, whose table may scroll by itself', async () => {
    const { seen, complaints } = await opened([sampleReport(), sampleReport()], { viewport: PHONE }, overflow)
    expect([seen, complaints]).toEqual([0, []])
  })

  test.each(['light', 'dark'] as const)(
    'in the %s every text has a contrast of at least 4.5 to 1',
    async (colorScheme) => {
      const look = (page: Page) => page.evaluate<string[]>(FAINT_TEXTS)
      const { seen } = await opened([sampleReport()], { viewport: { width: 1200, height: 800 }, colorScheme }, look)
      expect(seen).toEqual([])
    },
  )
})
