import type { Page, Request } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner } from '../helpers/partner.ts'
import { InspectorPage, inspected } from './inspector-page.ts'

const TOKEN = 'a-token-of-this-test'

/** Script of a page that notes whether its frame came with a row, and has no timer of a tenth of a second. */
const NOTE_FRAME = `
  const later = window.setTimeout
  window.setTimeout = (work, ms, ...rest) => (ms === 100 ? 0 : later(work, ms, ...rest))
  new MutationObserver(() => {
    if (window.frameHadRow === undefined && document.querySelector('header.top'))
      window.frameHadRow = document.querySelector('.row') !== null
  }).observe(document, { childList: true, subtree: true })
`

/** A promise, and what fulfils it. */
function gate(): { passed: Promise<void>; open(): void } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

/** Requests to the control interface, as a page makes them. */
function asked(page: Page): string[] {
  const paths: string[] = []
  page.on('request', (request: Request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/_sandbox')) paths.push(`${request.method()} ${pathname}${search}`)
  })
  return paths
}

describe.skipIf(NO_CHROMIUM)('the first rows', () => {
  const on = inspected(async (sandbox) => {
    const mine = await sandbox.namespaces.create({ name: 'mine' })
    await new Partner(mine).open('alice')
  })

  test('are asked for once, before the script is there, in the namespace of the address', async () => {
    const profile = await on.profile()
    const page = await profile.newPage()
    const paths = asked(page)
    const first = page.waitForRequest((request) => request.url().includes('/operations?'))
    const script = gate()
    await page.route('**/inspector/app.js', async (route) => {
      await script.passed
      await route.continue()
    })
    await page.goto(`${on.origin}/#operations?namespace=mine`, { waitUntil: 'commit' })
    await first
    script.open()
    await page.locator('.row', { hasText: 'New portfolio' }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(paths.filter((path) => /operations|clock/.test(path))).toEqual([
      'GET /_sandbox/namespaces/mine/operations?limit=40',
      'GET /_sandbox/namespaces/mine/clock',
    ])
  })

  test('come with the frame: the page is drawn once', async () => {
    const profile = await on.profile()
    await profile.addInitScript(NOTE_FRAME)
    const opened = await InspectorPage.open(profile, `${on.origin}/#operations?namespace=mine`)
    await opened.page.locator('.row').first().waitFor()
    expect(await opened.page.evaluate('window.frameHadRow')).toBe(true)
    await opened.close()
  })

  test('are not waited for longer than a moment: the frame stands without them, and they come into it', async () => {
    const profile = await on.profile()
    const page = await profile.newPage()
    const rows = gate()
    await page.route('**/operations?limit=40', async (route) => {
      await rows.passed
      await route.continue()
    })
    await page.goto(`${on.origin}/#operations?namespace=mine`)
    await page.getByText('Reading the operations').waitFor()
    expect(await page.locator('header.top').count()).toBe(1)
    expect(await page.locator('.row').count()).toBe(0)
    rows.open()
    await page.locator('.row', { hasText: 'New portfolio' }).waitFor()
  })
})

describe.skipIf(NO_CHROMIUM)('the first rows, with a control token', () => {
  const on = inspected((sandbox) => new Partner(sandbox).open('alice'), { controlToken: TOKEN })

  test('are asked for after the session has begun, and at once when there is one', async () => {
    const profile = await on.profile()
    const page = await profile.newPage()
    const paths = asked(page)
    // A session by the token in place of one by a code: of those only the command prints one.
    await page.route('**/_sandbox/sessions', (route) => route.continue({ postData: JSON.stringify({ token: TOKEN }) }))
    await page.goto(`${on.origin}/#code=a-code`)
    await page.locator('.row').first().waitFor()
    expect(paths.slice(0, 3)).toEqual([
      'POST /_sandbox/sessions',
      'GET /_sandbox/operations?limit=40',
      'GET /_sandbox/clock',
    ])
    await page.close()
    const again = await InspectorPage.open(profile, `${on.origin}/`)
    await again.page.locator('.row').first().waitFor()
    expect(again.complaints).toEqual([])
    await again.close()
  })
})
