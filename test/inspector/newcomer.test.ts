import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { type InspectorPage, inspected } from './inspector-page.ts'
import { AMOUNT, playStory } from './story.ts'

const run = promisify(execFile)

describe.skipIf(NO_CHROMIUM)("a newcomer's way", () => {
  const on = inspected()
  let opened: InspectorPage

  beforeAll(async () => {
    opened = await on.open('/')
  })

  test('the empty page has a first request, which works as it is copied and shows as it arrives', async () => {
    const { page } = opened
    const box = page.getByLabel('First request')
    await box.getByRole('button').click()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toContain('curl')
    await run('sh', ['-c', copied])
    const row = page.locator('.row', { hasText: 'Deposit' })
    await row.waitFor()
    expect(await row.textContent()).toContain('alice')
    await page.locator('.headline').getByText('Money is right').waitFor()
  })

  test('whoever drops a deposit by the form sees the retry, and that it was paid once', async () => {
    const { page } = opened
    await page.keyboard.press('6')
    const faults = page.getByRole('region', { name: 'Faults' })
    await faults.getByLabel('Kind').selectOption('drop_connection')
    await faults.getByLabel('When').selectOption('after_broadcast')
    await faults.getByLabel('Operation').selectOption('deposit')
    await faults.getByText('The connection is reset').first().waitFor()
    await faults.getByRole('button', { name: 'Put in force' }).click()
    await expect.poll(() => on.sandbox.faults.list()).toHaveLength(1)
    await on.sandbox.faults.clear()
    await playStory(on.sandbox)
    await page.keyboard.press('1')
    const alice = page.locator('.row', { hasText: 'Retried' })
    await alice.waitFor()
    expect(await alice.locator('.strip').getAttribute('aria-label')).toMatch(/block.*answer/i)
  })

  test('the line at the top says whose money moved twice, and leads to the rule and what to change', async () => {
    const { page } = opened
    const line = page.locator('.headline')
    await line.getByText('250.00 USDC moved twice').waitFor()
    await line.getByRole('link', { name: /bob/ }).click()
    const detail = page.locator('#detail')
    await detail.getByText('250.00 too much').waitFor()
    expect(await detail.getByRole('definition').allTextContents()).toEqual(
      expect.arrayContaining(['0.00', '250.00', '500.00 USDC']),
    )
    await detail.getByText('idempotency-key-on-retry').waitFor()
    await detail.getByText('What to change').waitFor()
    await detail.getByText('a new key', { exact: true }).waitFor()
    expect(await detail.locator('data').first().getAttribute('value')).toBe(AMOUNT)
  })

  test('nothing on the way failed, and nothing was asked of another origin', () => {
    expect(opened.complaints).toEqual([])
  })
})
