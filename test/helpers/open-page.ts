import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { installedChromium } from './installed-chromium.ts'

/** Where there is no Chromium, tests of pages leave its part out. */
export const NO_CHROMIUM = installedChromium() === undefined

let running: Promise<Browser> | undefined

/** The one browser of this process, for every file of tests that it runs. It ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  running ??= chromium.launch({ executablePath: installedChromium()!, args: ['--no-sandbox'] })
  return running
}

/** Opens pages from files, as somebody does who was sent one. */
export class PageOpener {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async start(): Promise<PageOpener> {
    return new PageOpener(await mkdtemp(join(tmpdir(), 'yield-sandbox-page-')))
  }

  /** Resolves with what looking at it brought, and what the page complained of: errors, dialogs, requests of its own. */
  async open<T>(html: string, options: BrowserContextOptions, look: (page: Page) => Promise<T>) {
    const file = join(this.#directory, 'page.html')
    await writeFile(file, html)
    const context = await (await sharedBrowser()).newContext(options)
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

  stop(): Promise<void> {
    return rm(this.#directory, { recursive: true })
  }
}

/** By how many pixels a page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

/** A small one. */
export const PHONE = { viewport: { width: 390, height: 844 } }
