import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner } from '../helpers/partner.ts'
import { inspected } from './inspector-page.ts'

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

  test('show at once, scroll to the oldest, and only what is in sight is in the page', async () => {
    const opened = await on.open('/')
    const { page } = opened
    await page.locator('.row').first().waitFor()
    const firstRow = await page.evaluate<number>('performance.now()')
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
    console.log(`first row after ${Math.round(firstRow)} ms, ${Math.round(perSecond)} frames a second while scrolling`)
    expect(await page.locator('.row').count()).toBeLessThan(80)
    await page.evaluate("document.querySelector('.virtual').scrollTop = 1e9")
    await page.locator('.row', { hasText: 'New portfolio' }).waitFor()
    await page.locator('input[type=search]').fill('new portfolio')
    await expect.poll(() => page.locator('.row').count()).toBe(1)
    expect(opened.complaints).toEqual([])
  })
})
