import { beforeAll, describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner } from '../helpers/partner.ts'
import { type InspectorPage, inspected } from './inspector-page.ts'

describe.skipIf(NO_CHROMIUM)('the actions of Control', () => {
  const on = inspected((sandbox) => new Partner(sandbox).open('alice'))
  let opened: InspectorPage

  beforeAll(async () => {
    opened = await on.open('#control')
    opened.page.on('dialog', (dialog) => void dialog.accept())
  })

  const card = (name: string) => opened.page.getByRole('region', { name, exact: true })

  test('the clock moves on, stops and runs', async () => {
    const before = Date.parse((await on.sandbox.clock.state()).now)
    const clock = card('Clock')
    await clock.getByLabel('Duration').fill('8d')
    await clock.getByRole('button', { name: 'Advance' }).click()
    await clock.getByText(/^It is /).waitFor()
    expect(Date.parse((await on.sandbox.clock.state()).now) - before).toBeGreaterThanOrEqual(8 * 24 * 3600 * 1000)
    await clock.getByRole('button', { name: 'Freeze' }).click()
    await clock.getByRole('button', { name: 'Let it run' }).click()
    await expect.poll(async () => (await on.sandbox.clock.state()).frozen).toBe(false)
    await clock.getByLabel('Duration').fill('eight days')
    await clock.getByRole('button', { name: 'Advance' }).click()
    await clock
      .getByText(/advance/i)
      .last()
      .waitFor()
  })

  test('a fault that cannot be is refused in words before it is put in force, and one in force is cleared', async () => {
    const faults = card('Faults')
    await faults.getByLabel('Kind').selectOption('unknown_fields')
    await faults.getByLabel('Times').fill('never')
    await faults.locator('p.bad').filter({ hasText: /times/ }).waitFor()
    await faults.getByLabel('Times').fill('always')
    await faults.locator('p.ok').filter({ hasText: /\w/ }).waitFor()
    await faults.getByRole('button', { name: 'Put in force' }).click()
    await expect.poll(() => on.sandbox.faults.list()).toMatchObject([{ kind: 'unknown_fields', times: 'always' }])
    await faults.getByRole('button', { name: 'Clear', exact: true }).click()
    await expect.poll(() => on.sandbox.faults.list()).toEqual([])
  })

  test('a scenario starts and stops', async () => {
    const scenarios = card('Scenarios')
    await scenarios.getByLabel('Scenario').selectOption('dropped-deposit')
    await scenarios.getByRole('button', { name: 'Start' }).click()
    await scenarios.getByText('dropped-deposit has begun.').waitFor()
    expect(await on.sandbox.faults.list()).not.toEqual([])
    await scenarios.getByRole('button', { name: 'Stop' }).click()
    await scenarios.getByText('No scenario is at work.').waitFor()
    expect(await on.sandbox.faults.list()).toEqual([])
  })

  test('a user token is minted and works, and every call can be copied', async () => {
    const credentials = card('Credentials and tokens')
    await credentials.getByRole('button', { name: 'User token', exact: true }).click()
    const token = await credentials.getByLabel('Token', { exact: true }).locator('code').textContent()
    const answer = await new Partner(on.sandbox).get('end_users/alice/portfolios', {
      user: null,
      headers: { 'x-user-token': token },
    })
    expect(answer.status).toBe(200)
    await card('Clock').getByRole('button', { name: 'curl' }).first().click()
    await expect
      .poll(() => opened.page.evaluate<string>('navigator.clipboard.readText()'))
      .toMatch(/^curl -X POST .*\/_sandbox\/clock/)
  })

  test('a namespace is made, shown, reset and deleted', async () => {
    const namespaces = card('Namespaces')
    await namespaces.getByLabel('Name of a new namespace').fill('pull-request-7')
    await namespaces.getByRole('button', { name: 'Create' }).click()
    await expect.poll(() => opened.page.url()).toContain('namespace=pull-request-7')
    await namespaces.getByRole('button', { name: 'Reset pull-request-7' }).click()
    await namespaces.getByText('pull-request-7 is as at its start.').waitFor()
    await namespaces.getByRole('button', { name: 'Delete pull-request-7' }).click()
    await expect.poll(async () => (await on.sandbox.namespaces.list()).map(({ name }) => name)).toEqual(['default'])
    await expect.poll(() => opened.page.url()).not.toContain('namespace=')
  })
})
