import { beforeAll, describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner } from '../helpers/partner.ts'
import { type InspectorPage, inspected } from './inspector-page.ts'
import { AMOUNT } from './story.ts'

describe.skipIf(NO_CHROMIUM)('an operation is sent again', () => {
  const on = inspected(async (sandbox) => {
    const acme = new Partner(sandbox)
    await acme.deposit('dave', await acme.open('dave'), AMOUNT)
  })
  let opened: InspectorPage

  beforeAll(async () => {
    opened = await on.open('/')
    await opened.page.locator('.row', { hasText: 'Deposit' }).click()
  })

  /** Deposits on record, the newest first. */
  const deposits = async () => (await on.sandbox.requests.list({ operation: 'deposit' })).data
  const sent = () => opened.page.getByText('Sent again: 200.')

  test('with a new key: it moves money a second time', async () => {
    await opened.page.getByRole('button', { name: 'Send with a new key' }).click()
    await sent().waitFor()
    const [again, first] = await deposits()
    expect(again!.idempotency).toMatchObject({ use: 'first' })
    expect(again!.request.body).toBe(first!.request.body)
    expect(again!.idempotency!.key).not.toBe(first!.idempotency!.key)
  })

  test('edited: with the body and the key that were typed', async () => {
    await opened.page.getByRole('button', { name: 'Edit and send' }).click()
    const body = opened.page.getByLabel('Body')
    await body.fill((await body.inputValue()).replace(AMOUNT, '70000000'))
    await opened.page.getByLabel('Idempotency-Key').fill('0b2cbe5e-8b0c-4d1c-9f57-2f1f0a3b7c11')
    await opened.page.getByRole('button', { name: 'Send', exact: true }).click()
    await opened.page.locator('.row', { hasText: '70.00' }).waitFor()
    // The row is there before the answer is.
    const newest = async () => (await deposits())[0]
    await expect.poll(newest).toMatchObject({
      idempotency: { use: 'first', key: '0b2cbe5e-8b0c-4d1c-9f57-2f1f0a3b7c11' },
      response: { status: 200 },
    })
    expect((await newest())!.request.body).toContain('"70000000"')
    expect(opened.complaints).toEqual([])
  })
})
