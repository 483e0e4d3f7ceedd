import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner } from '../helpers/partner.ts'
import { InspectorPage, inspected } from './inspector-page.ts'

const OPERATIONS = 9900

describe.skipIf(NO_CHROMIUM)('ten thousand operations', () => {
  const on = inspected(async (sandbox) => {
    const acme = new Partner(sandbox)
    const portfolio = await acme.open('alice')
    const send = async (count: number) => {
      for (let i = 0; i < count; i++) await acme.deposit('alice', portfolio, '0', { key: randomUUID() })
    }
    await Promise.all(Array.from({ length: 10 }, () => send(OPERATIONS / 10)))
  })

  /** Opens a place, and resolves with how long after the page's load its first row was there, in milliseconds. */
  async function firstRowOf(place: string): Promise<{ opened: InspectorPage; after: number }> {
    const profile = await on.profile()
    await profile.addInitScript(`new MutationObserver((_, observer) => {
      if (!document.querySelector('.row')) return
      window.firstRow = performance.now()
      observer.disconnect()
    }).observe(document, { childList: true, subtree: true })`)
    const opened = await InspectorPage.open(profile, `${on.origin}/${place}`)
    await opened.page.locator('.row').first().waitFor()
    const after = await opened.page.evaluate<number>(
      "window.firstRow - performance.getEntriesByType('navigation')[0].loadEventEnd",
    )
    const olderOnes = await opened.page.evaluate<number>(
      "performance.getEntriesByType('resource').filter(({ name, responseEnd }) => name.includes('before=') && responseEnd < window.firstRow).length",
    )
    expect(olderOnes, 'pages of older rows that were read before').toBe(0)
    return { opened, after: Math.round(after) }
  }

  test('the first row of a few, and of ten thousand, comes before all others are read', async () => {
    const few = await on.sandbox.namespaces.create({ name: 'few' })
    await new Partner(few).open('alice')
    const figures: string[] = []
    for (const [what, place] of [
      ['of a few operations', '#operations?namespace=few'],
      ['of a few, seen before', '#operations?namespace=few'],
      ['of 10,000', '#operations'],
      ['of 10,000, seen before', '#operations'],
    ] as const) {
      const { opened, after } = await firstRowOf(place)
      figures.push(`${what}: ${after} ms`)
      await opened.close()
    }
    console.log(`first row after load, ${figures.join('; ')}`)
  })

  test('show at once, scroll to the oldest, and only what is in sight is in the page', async () => {
    const opened = await on.open('/')
    const { page } = opened
    await page.locator('.row').first().waitFor()
    await expect
      .poll(() => page.evaluate<number>("document.querySelector('.virtual ul').offsetHeight"))
      .toBeGreaterThanOrEqual(OPERATIONS * 34)
    const frames = await page.evaluate<{ frames: number; ms: number }>(`new Promise((done) => {
      const list = document.querySelector('.virtual')
      const began = performance.now()
      let frames = 0
      const step = () => {
        frames++
        list.scrollTop += 400
        if (frames < 240) requestAnimationFrame(step)
        else done({ frames, ms: performance.now() - began })
      }
      requestAnimationFrame(step)
    })`)
    const perSecond = (frames.frames / frames.ms) * 1000
    console.log(`${Math.round(perSecond)} frames a second while 10,000 operations scroll`)
    expect(await page.locator('.row').count()).toBeLessThan(80)
    await page.evaluate("document.querySelector('.virtual').scrollTop = 1e9")
    await page.locator('.row', { hasText: 'New portfolio' }).waitFor()
    await page.locator('input[type=search]').fill('new portfolio')
    await expect.poll(() => page.locator('.row').count()).toBe(1)
    expect(opened.complaints).toEqual([])
  })
})
