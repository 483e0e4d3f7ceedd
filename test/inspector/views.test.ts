import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { testSandbox } from '../helpers/partner.ts'
import { InspectorBrowser, InspectorPage, LOOKS } from './inspector-page.ts'
import { playStory } from './story.ts'

/** A place of each view, and a text that is there when it has read everything. */
const PLACES: readonly (readonly [string, RegExp])[] = [
  ['#operations', /Paid twice/],
  ['#operations/latest', /request and answer/],
  ['#money', /Can be withdrawn/],
  ['#money/acme%2Fbob', /How the principal came about/],
  ['#chain', /0x/],
  ['#verdict', /idempotency-key-on-retry/],
  ['#explore', /explor/i],
  ['#control', /Put in force/],
]

describe.skipIf(NO_CHROMIUM)('every view', () => {
  let sandbox: SandboxHandle
  let browser: InspectorBrowser
  let origin: string

  beforeAll(async () => {
    sandbox = await testSandbox()
    browser = await InspectorBrowser.start()
    origin = new URL(sandbox.baseUrl).origin
    await playStory(sandbox)
  })
  afterAll(async () => {
    await browser?.stop()
    await sandbox?.stop()
  })

  test.each(Object.keys(LOOKS))('%s: axe finds nothing, and no view is wider than the window', async (look) => {
    const opened = await browser.open(`${origin}/`, LOOKS[look])
    for (const [place, text] of PLACES) {
      await opened.page.goto(`${origin}/${place}`)
      await opened.page.locator('main').getByText(text).first().waitFor({ state: 'attached' })
      expect(await opened.axe(), `${place}, ${look}`).toEqual([])
      expect(await opened.overflow(), `${place}, ${look}`).toBeLessThanOrEqual(0)
    }
    expect(opened.complaints).toEqual([])
    await opened.close()
  })

  test('before anything came, axe finds nothing either, and each view names the first step', async () => {
    await sandbox.namespaces.create({ name: 'empty' })
    const opened = await browser.open(`${origin}/#verdict?namespace=empty`)
    for (const [view, text] of [
      ['operations', /Send a first deposit/],
      ['money', /alice/], // the fixture's
      ['verdict', /Open a saved report/],
      ['explore', /yield-sandbox explore/],
    ] as const) {
      await opened.page.goto(`${origin}/#${view}?namespace=empty`)
      await opened.page.locator('main').getByText(text).first().waitFor()
      expect(await opened.axe(), view).toEqual([])
    }
    await opened.close()
  })

  test('a link leads to its filter, its operation and its namespace', async () => {
    const opened = await browser.open(`${origin}/#operations?user=bob&finding=any`)
    await opened.page.locator('.row').first().waitFor()
    expect(await opened.page.locator('.row').count()).toBe(1)
    await opened.page.getByRole('button', { name: 'user: bob' }).click()
    await expect.poll(() => opened.page.url()).not.toContain('user=bob')
    await opened.close()
  })

  test('a narrow page shows the list or one operation, and leads back', async () => {
    const opened = await browser.open(`${origin}/`, LOOKS.narrow)
    await opened.page.locator('.row.bad').click()
    await opened.page.getByText('250.00 too much').waitFor()
    expect(await opened.page.locator('.left').isVisible()).toBe(false)
    await opened.page.getByRole('button', { name: 'All' }).click()
    await opened.page.locator('.row.bad').waitFor()
    await opened.close()
  })

  test('two tabs of one browser share one stream', async () => {
    const profile = await browser.profile()
    const tabs = await Promise.all(Array.from({ length: 2 }, () => InspectorPage.open(profile, `${origin}/`)))
    const streams: string[] = []
    for (const { page } of tabs) await page.getByText('Live').waitFor()
    for (const { page } of tabs) {
      streams.push(
        ...(await page.evaluate<string[]>(
          "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/events'))",
        )),
      )
    }
    expect(streams.length).toBeLessThanOrEqual(1)
    await profile.close()
  })
})
