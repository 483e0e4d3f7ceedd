import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { renderPage } from '../../src/certify/render/render-page.ts'
import { installedChromium } from '../helpers/installed-chromium.ts'
import { FAINT_TEXTS } from '../verdict/render/faint-texts.ts'
import { HOSTILE } from '../verdict/render/sample-report.ts'
import { sampleEvidence } from './sample-evidence.ts'

const executablePath = installedChromium()
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

// Where there is no Chromium, its part is left out.
describe.skipIf(executablePath === undefined)('in Chromium', () => {
  let browser: Browser
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-certificate-'))
    browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  })
  afterAll(() => Promise.all([browser.close(), rm(directory, { recursive: true })]))

  /** Opens a page from a file; resolves with what looking at it brought, and what it complained of or asked for. */
  async function opened<T>(text: string, options: BrowserContextOptions, look: (page: Page) => Promise<T>) {
    const file = join(directory, 'certificate.html')
    await writeFile(file, text)
    const context = await browser.newContext(options)
    const complaints: string[] = []
    const page = await context.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => complaints.push(dialog.message()))
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) complaints.push(request.url())
    })
    await page.goto(pathToFileURL(file).href)
    const seen = await look(page)
    await context.close()
    return { seen, complaints }
  }

  const looks: [string, BrowserContextOptions][] = (['light', 'dark'] as const).flatMap((colorScheme) => [
    [`${colorScheme}, on a desk`, { colorScheme, viewport: { width: 1280, height: 900 } }],
    [`${colorScheme}, on a phone`, { colorScheme, viewport: { width: 390, height: 844 } }],
  ])

  test.each(looks)('is readable: %s', async (_, options) => {
    const { seen, complaints } = await opened(pageOf(), options, async (page) => ({
      verdict: await page.locator('.verdict').textContent(),
      first: await page.locator('h1').isVisible(),
      data: await page.locator('#certificate').isVisible(),
      wider: await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'),
      faint: await page.evaluate(FAINT_TEXTS),
    }))
    expect(complaints).toEqual([])
    expect(seen).toEqual({ verdict: 'failed', first: true, data: false, wider: false, faint: [] })
  })

  test.each(HOSTILE)('runs nothing that a command line brings (%#)', async (text) => {
    const evidence = sampleEvidence(text)
    const { seen, complaints } = await opened(renderPage(certificateOf(evidence)), {}, (page) =>
      page.evaluate<unknown>('JSON.parse(document.getElementById("certificate").textContent).evidence'),
    )
    expect(complaints).toEqual([])
    expect(seen).toEqual(evidence)
  })
})
