import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { axeFindings } from '../helpers/axe.ts'
import { installedChromium } from '../helpers/installed-chromium.ts'
import { PATIENCE } from '../helpers/patience.ts'

/** Widths and colours in which every view has to hold. */
export const LOOKS: Record<string, BrowserContextOptions> = {
  light: { viewport: { width: 1280, height: 800 } },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 390, height: 844 } },
  'narrow and dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
}

/** One browser for a file of tests. */
export class InspectorBrowser {
  readonly #browser: Browser

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  static async start(): Promise<InspectorBrowser> {
    return new InspectorBrowser(await chromium.launch({ executablePath: installedChromium()!, args: ['--no-sandbox'] }))
  }

  /** A browser's profile of its own: cookies, locks and channels are shared within it. */
  profile(options: BrowserContextOptions = LOOKS.light!): Promise<BrowserContext> {
    return this.#browser
      .newContext({ ...options, permissions: ['clipboard-read', 'clipboard-write'] })
      .then((context) => {
        context.setDefaultTimeout(PATIENCE)
        return context
      })
  }

  /** Opens an address in a profile of its own, and collects what goes wrong there. */
  async open(url: string, options?: BrowserContextOptions): Promise<InspectorPage> {
    return InspectorPage.open(await this.profile(options), url)
  }

  stop(): Promise<void> {
    return this.#browser.close()
  }
}

/** A page, and everything it complained of: errors, dialogs, requests to other origins. */
export class InspectorPage {
  readonly complaints: string[] = []

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    origin: string,
  ) {
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(`${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', (error) => this.complaints.push(error.message))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(origin) && !url.startsWith('data:')) this.complaints.push(`it asked for ${url}`)
    })
  }

  static async open(context: BrowserContext, url: string): Promise<InspectorPage> {
    const opened = new InspectorPage(context, await context.newPage(), new URL(url).origin)
    await opened.page.goto(url)
    return opened
  }

  /** What axe-core finds: rule and element. */
  axe(): Promise<string[]> {
    return axeFindings(this.page)
  }

  /** By how many pixels the page is wider than its window. */
  overflow(): Promise<number> {
    return this.page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  }

  close(): Promise<void> {
    return this.context.close()
  }
}
