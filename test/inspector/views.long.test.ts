import { describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { EFFECTS_WHEN_DRAWN_AGAIN, InspectorPage, inspected, LOOKS } from './inspector-page.ts'
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
  const on = inspected(async (sandbox) => {
    await playStory(sandbox)
    await sandbox.namespaces.create({ name: 'empty' })
  })

  test.each(Object.keys(LOOKS))('%s: axe finds nothing, and no view is wider than the window', async (look) => {
    const opened = await on.open('/', LOOKS[look])
    for (const [place, text] of PLACES) {
      await opened.page.goto(`${on.origin}/${place}`)
      await opened.page.locator('main').getByText(text).first().waitFor({ state: 'attached' })
      expect(await opened.axe(), `${place}, ${look}`).toEqual([])
      expect(await opened.overflow(), `${place}, ${look}`).toBeLessThanOrEqual(0)
    }
    expect(opened.complaints).toEqual([])
    await opened.close()
  })

  test('before anything came, axe finds nothing either, and each view names the first step', async () => {
    for (const look of ['light', 'narrow and dark']) {
      const opened = await on.open('#verdict?namespace=empty', LOOKS[look])
      for (const [view, text] of [
        ['operations', /Send a first deposit/],
        ['money', /alice/], // the fixture's
        ['chain', /Supply 2,500.00 USDC to Aave for alice/],
        ['verdict', /Open a saved report/],
        ['explore', /yield-sandbox explore/],
      ] as const) {
        await opened.page.goto(`${on.origin}/#${view}?namespace=empty`)
        await opened.page.locator('main').getByText(text).first().waitFor()
        expect([await opened.axe(), await opened.overflow()], `${view}, ${look}`).toEqual([[], 0])
      }
      await opened.close()
    }
  })

  test('as they are served, the scripts have 30 KB at most together, and the style 8 KB', async () => {
    const sizeOf = async (file: string) => {
      const answer = await fetch(`${on.origin}/inspector/${file}`, { headers: { 'accept-encoding': 'gzip' } })
      expect(answer.headers.get('content-encoding')).toBe('gzip')
      return Number(answer.headers.get('content-length'))
    }
    const page = await (await fetch(on.origin, { headers: { accept: 'text/html' } })).text()
    const scripts = [...page.matchAll(/src="\/inspector\/([^"]+)"/g)].map(([, name]) => name!)
    expect(scripts).toEqual(['first.js', 'app.js'])
    const sizes = await Promise.all(scripts.map(sizeOf))
    expect(Math.min(...sizes)).toBeGreaterThan(100)
    expect(sizes[0]! + sizes[1]!).toBeLessThanOrEqual(30 * 1024)
    const style = await sizeOf('style.css')
    expect(style).toBeGreaterThan(1000)
    expect(style).toBeLessThanOrEqual(8 * 1024)
  })

  test('a link leads to its filter, its operation and its namespace', async () => {
    const opened = await on.open('#operations?user=bob&finding=any')
    await opened.page.locator('.row').first().waitFor()
    expect(await opened.page.locator('.row').count()).toBe(1)
    await opened.page.getByRole('button', { name: 'user: bob' }).click()
    await expect.poll(() => opened.page.url()).not.toContain('user=bob')
    await opened.close()
  })

  test('the number of a second attempt, or the id of its request, leads to the operation that it belongs to', async () => {
    const { data } = await on.sandbox.requests.list({ operation: 'deposit', external_id: 'bob' })
    const [second, first] = data
    for (const selected of [second!.number, second!.request_id]) {
      const opened = await on.open(`#operations/${selected}`)
      await opened.page.getByText('250.00 too much').waitFor()
      const { page } = opened
      await expect.poll(() => page.locator('.row[aria-current] .no').allTextContents()).toEqual([String(first!.number)])
      await page.getByText('Attempt 2', { exact: false }).first().waitFor()
      await opened.close()
    }
  })

  test('an address that changes while the page is drawn leads on', async () => {
    const { data } = await on.sandbox.requests.list({ operation: 'deposit', external_id: 'bob' })
    const [second, first] = data
    const profile = await on.profile()
    await profile.addInitScript(EFFECTS_WHEN_DRAWN_AGAIN)
    const opened = await InspectorPage.open(profile, `${on.origin}/#operations/${second!.number}`)
    const selected = opened.page.locator('.row[aria-current] .no')
    await expect
      .poll(async () => {
        await on.sandbox.clock.advance('1s') // an event, of which the page is drawn again
        return [...(await selected.allTextContents()), ...opened.complaints]
      })
      .toEqual([String(first!.number)])
    await opened.close()
  })

  test('latest is the newest operation, and its fold is open', async () => {
    const opened = await on.open('#requests/latest')
    const row = opened.page.locator('.row.folded[aria-current]')
    await row.filter({ hasText: 'Transactions' }).waitFor()
    await opened.page.getByRole('button', { name: '1 call that moves no money' }).first().click()
    await row.waitFor({ state: 'detached' })
    await opened.close()
  })

  test('nothing moves for who wants no motion', async () => {
    const waiting = async (reducedMotion: 'reduce' | 'no-preference') => {
      const opened = await on.open('#operations?namespace=empty', { reducedMotion })
      await opened.page.locator('.wait i').waitFor()
      const name = await opened.page.evaluate<string>(
        "getComputedStyle(document.querySelector('.wait i')).animationName",
      )
      await opened.close()
      return name
    }
    expect([await waiting('no-preference'), await waiting('reduce')]).toEqual(['wait', 'none'])
  })

  test('a narrow page shows the list or one operation, and leads back', async () => {
    const opened = await on.open('/', LOOKS.narrow)
    await opened.page.locator('.row.bad').click()
    await opened.page.getByText('250.00 too much').waitFor()
    await expect.poll(() => opened.page.locator('.left').isVisible()).toBe(false)
    await opened.page.getByRole('button', { name: 'All' }).click()
    await opened.page.locator('.row.bad').waitFor()
    await opened.close()
  })

  test('two tabs of one browser share one stream', async () => {
    const profile = await on.profile()
    const tabs = await Promise.all(Array.from({ length: 2 }, () => InspectorPage.open(profile, `${on.origin}/`)))
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
