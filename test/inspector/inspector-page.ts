import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { SandboxHandle, SandboxOptions } from '../../src/index.ts'
import { axeFindings } from '../helpers/axe.ts'
import { overflow, sharedBrowser } from '../helpers/open-page.ts'
import { testSandbox } from '../helpers/partner.ts'
import { PATIENCE } from '../helpers/patience.ts'

/** Widths and colours in which every view has to hold. */
export const LOOKS: Record<string, BrowserContextOptions> = {
  light: { viewport: { width: 1280, height: 800 } },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 390, height: 844 } },
  'narrow and dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
}

/** Script of a page in which Preact carries out effects as part of the next drawing: elsewhere, only if that comes within a frame. */
export const EFFECTS_WHEN_DRAWN_AGAIN = `
  const later = window.setTimeout
  window.requestAnimationFrame = () => 0
  window.setTimeout = (work, ms, ...rest) => (ms === 35 ? 0 : later(work, ms, ...rest))
`

/** A browser's profile of its own. */
export async function newProfile(options: BrowserContextOptions = LOOKS.light!): Promise<BrowserContext> {
  const browser = await sharedBrowser()
  const profile = await browser.newContext({ ...options, permissions: ['clipboard-read', 'clipboard-write'] })
  profile.setDefaultTimeout(PATIENCE)
  return profile
}

/** A sandbox for a file of tests, and the pages that are open on it. */
export class Inspected {
  readonly #profiles: BrowserContext[] = []
  readonly #started: () => SandboxHandle

  constructor(started: () => SandboxHandle) {
    this.#started = started
  }

  get sandbox(): SandboxHandle {
    return this.#started()
  }

  /** Address of the page. */
  get origin(): string {
    return new URL(this.sandbox.baseUrl).origin
  }

  /** A browser's profile of its own: cookies, locks and channels are shared within it. */
  async profile(options?: BrowserContextOptions): Promise<BrowserContext> {
    const profile = await newProfile(options)
    this.#profiles.push(profile)
    return profile
  }

  /** Opens a place of the page, or another address, in a profile of its own, and collects what goes wrong there. */
  async open(place: string, options?: BrowserContextOptions): Promise<InspectorPage> {
    return InspectorPage.open(await this.profile(options), new URL(place, this.origin).href)
  }

  /** Closes every page. */
  async close(): Promise<void> {
    await Promise.all(this.#profiles.map((profile) => profile.close()))
  }
}

/** What every file of tests of the page begins and ends with: a sandbox in which `prepare` has happened. */
export function inspected(
  prepare: (sandbox: SandboxHandle) => Promise<unknown> = async () => {},
  options: SandboxOptions = {},
): Inspected {
  let sandbox: SandboxHandle
  const on = new Inspected(() => sandbox)
  beforeAll(async () => {
    sandbox = await testSandbox(options)
    await prepare(sandbox)
  })
  afterAll(async () => {
    await on.close()
    await sandbox?.stop()
  })
  return on
}

/** A page, and everything it complained of: errors, dialogs, requests to other origins. */
export class InspectorPage {
  readonly complaints: string[] = []
  readonly #errors: Error[] = []

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    origin: string,
  ) {
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(`${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', (error) => {
      this.complaints.push(error.message)
      this.#errors.push(error)
    })
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
    return overflow(this.page)
  }

  /** Fails if the script threw: no page goes on as it should from there. */
  async close(): Promise<void> {
    await this.context.close()
    if (this.#errors.length > 0) throw new AggregateError(this.#errors, this.#errors.join('\n'))
  }
}
