import { describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { testSandbox } from '../helpers/partner.ts'
import { InspectorPage, newProfile } from '../inspector/inspector-page.ts'

const open = async ({ controlUrl }: SandboxHandle) =>
  InspectorPage.open(await newProfile(), new URL('/docs', controlUrl).href)

/** Executes an operation as its form is filled, and resolves with the status that the page shows. */
async function execute({ page }: InspectorPage, operation: string): Promise<string | null> {
  const block = page.locator(`#operations-Partner_API-${operation}`)
  await block.locator('button.opblock-summary-control').click()
  await block.getByRole('button', { name: 'Execute' }).click()
  return block.locator('.live-responses-table tbody .response-col_status').textContent()
}

describe.skipIf(NO_CHROMIUM)('/docs in a browser', () => {
  test('one button authorizes; then pools are listed and a deposit is made', async () => {
    await using sandbox = await testSandbox()
    const opened = await open(sandbox)
    const { page, complaints } = opened
    expect(await page.title()).toBe('yield-sandbox: Yield Portfolio Partner API')
    await page.getByRole('button', { name: 'Authorize with fresh tokens' }).click()
    await page.getByText(/^Authorized as acme for alice/).waitFor()
    expect(await execute(opened, 'list_pools')).toBe('200')
    expect(await execute(opened, 'deposit')).toBe('200')
    expect(await sandbox.requests.list({ operation: 'deposit' })).toMatchObject({
      data: [{ response: { status: 200 } }],
    })
    await page.getByRole('button', { name: 'Authorize', exact: true }).first().click()
    const { client_id } = sandbox.tenants[0]!
    await expect(page.getByLabel('client_id:').inputValue()).resolves.toBe(client_id)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('with a control token, nothing is filled in before it is given', async () => {
    await using sandbox = await testSandbox({ controlToken: 'a-control-token' })
    const { page } = await open(sandbox)
    await page.getByLabel('Control token').fill('another')
    expect(await page.locator('#tokens').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This is neither the control token').waitFor()
    await page.getByLabel('Control token').fill('a-control-token')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Authorize with fresh tokens' }).click()
    await page.getByText(/^Authorized as acme for alice/).waitFor()
    await page.context().close()
  })
})
