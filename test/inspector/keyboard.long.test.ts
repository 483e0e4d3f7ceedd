import { beforeAll, describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner } from '../helpers/partner.ts'
import { EFFECTS_WHEN_DRAWN_AGAIN, InspectorPage, inspected } from './inspector-page.ts'
import { AMOUNT, playStory } from './story.ts'

describe.skipIf(NO_CHROMIUM)('the keyboard alone', () => {
  const on = inspected(async (sandbox) => {
    await playStory(sandbox)
    // Keys of the story have expired by then: sent again, they would pay again.
    const acme = new Partner(sandbox)
    await acme.deposit('dave', await acme.open('dave'), AMOUNT)
  })
  let opened: InspectorPage

  beforeAll(async () => {
    opened = await on.open('/')
    await opened.page.locator('.row.bad').waitFor()
  })

  const current = () => opened.page.locator('.row[aria-current]').textContent()
  const press = (...keys: string[]) =>
    keys.reduce<Promise<void>>((done, key) => done.then(() => opened.page.keyboard.press(key)), Promise.resolve())
  const deposits = async () => (await on.sandbox.requests.list({ operation: 'deposit' })).data.length

  test('j and k move and select, Enter leads into the detail, Esc back', async () => {
    await press('j')
    const first = await current()
    await press('j')
    const second = await current()
    expect(second).not.toBe(first)
    await press('k')
    expect(await current()).toBe(first)
    await press('Enter')
    expect(await opened.page.evaluate<string>('document.activeElement.id')).toBe('detail')
    await press('Escape')
    await opened.page.locator('.row[aria-current]').waitFor({ state: 'detached' })
  })

  test('who moves on before an operation is drawn stays there', async () => {
    const profile = await on.profile()
    await profile.addInitScript(EFFECTS_WHEN_DRAWN_AGAIN)
    const late = await InspectorPage.open(profile, `${on.origin}/#operations/latest`)
    await late.page.getByText('Live', { exact: true }).waitFor()
    const number = late.page.locator('.row[aria-current] .no')
    await late.page.keyboard.press('k')
    const first = await number.textContent()
    await late.page.getByText('request and answer').waitFor()
    await late.page.keyboard.press('j')
    expect(await number.textContent()).not.toBe(first)
    await late.close()
  })

  test('/ filters, and no other key works while somebody types', async () => {
    await press('/')
    await opened.page.keyboard.type('bob jk?')
    expect(await opened.page.locator('input[type=search]').inputValue()).toBe('bob jk?')
    await opened.page.getByText('No operation passes the filter').waitFor()
    await press('Escape', 'Escape')
    await opened.page.locator('.row.bad').waitFor()
  })

  test('1 to 6 are the views, ? the list of keys', async () => {
    const titles = ['Money', 'Chain', 'Verdict', 'Explore', 'Control']
    const keys = [...titles.map((title, i) => [String(i + 2), title] as const), ['1', 'Operations'] as const]
    for (const [key, title] of keys) {
      await press(key)
      await expect.poll(() => opened.page.title()).toContain(title)
    }
    await press('?')
    await opened.page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await press('Escape')
  })

  test('r sends the operation again with its key, and nothing moves twice', async () => {
    await opened.page.locator('.row', { hasText: 'Deposit' }).filter({ hasText: 'dave' }).click()
    await opened.page.locator('[data-key=r]').waitFor()
    const before = await deposits()
    await press('r')
    await opened.page.getByText('Sent again: 200.').waitFor()
    expect(await deposits()).toBe(before + 1)
    const { data } = await on.sandbox.requests.list({ operation: 'deposit' })
    expect(data[0]!.idempotency).toMatchObject({ use: 'replayed' })
  })

  test('c copies a curl that works, f does the fault to the next one, s makes a scenario file', async () => {
    await press('c')
    await opened.page.getByText('Copied as curl.').waitFor()
    const command = await opened.page.evaluate<string>('navigator.clipboard.readText()')
    expect(command).toMatch(/^curl -i -X POST .*\/deposit/)
    await on.sandbox.faults.clear()
    await press('f')
    await expect
      .poll(() => on.sandbox.faults.list())
      .toMatchObject([{ kind: 'drop_connection', phase: 'after_broadcast' }])
    await press('s')
    expect(opened.complaints).toEqual([])
    const file = await opened.page.getByLabel('Scenario file').textContent()
    expect(file).toContain('kind: drop_connection')
    expect(opened.complaints).toEqual([])
  })
})
