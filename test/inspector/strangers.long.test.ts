import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner } from '../helpers/partner.ts'
import { inspected } from './inspector-page.ts'

describe.skipIf(NO_CHROMIUM)('strangers', () => {
  const on = inspected((sandbox) => new Partner(sandbox).open('alice'), { controlToken: 'a-token-of-this-test' })
  let stranger: Server

  beforeAll(async () => {
    stranger = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><p>foreign</p>'),
    )
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => void stranger?.close())

  test('whoever opens the page without a code is asked for the token, and gets in with it, for good', async () => {
    const opened = await on.open('/')
    await opened.page.getByLabel('Control token').last().fill('wrong')
    await opened.page.getByRole('button', { name: 'Open' }).click()
    await opened.page.getByRole('status').filter({ hasText: /\w/ }).waitFor()
    await opened.page.getByLabel('Control token').last().fill('a-token-of-this-test')
    await opened.page.getByRole('button', { name: 'Open' }).click()
    await opened.page.locator('.row').first().waitFor()
    await opened.page.reload()
    await opened.page.locator('.row').first().waitFor()
    await opened.page.getByText('Live', { exact: true }).waitFor()
    expect(await opened.page.evaluate<string>('document.cookie')).toBe('')
    expect(opened.page.url()).not.toContain('token')
  })

  test('a foreign page reads nothing and frames nothing, although the browser has a session', async () => {
    const opened = await on.open('/')
    await opened.page.getByLabel('Control token').last().fill('a-token-of-this-test')
    await opened.page.getByRole('button', { name: 'Open' }).click()
    await opened.page.locator('.row').first().waitFor()
    const foreign = await opened.context.newPage()
    await foreign.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`)
    const tried = await foreign.evaluate<string[]>(`Promise.all([
      fetch('${on.origin}/_sandbox/operations', { credentials: 'include' }).then(() => 'read', () => 'refused'),
      fetch('${on.origin}/_sandbox/reset', { method: 'POST', credentials: 'include', mode: 'no-cors' }).then(() => 'sent', () => 'refused'),
      new Promise((done) => { const s = new EventSource('${on.origin}/_sandbox/events', { withCredentials: true }); s.onopen = () => done('read'); s.onerror = () => done('refused') }),
      new Promise((done) => { const f = document.createElement('iframe'); f.src = '${on.origin}/'; f.onload = () => { try { done(f.contentDocument ? 'read' : 'refused') } catch { done('refused') } }; document.body.append(f) }),
    ])`)
    expect([tried[0], tried[2], tried[3]]).toEqual(['refused', 'refused', 'refused'])
    // What it sent was not done: alice is still there.
    expect((await on.sandbox.requests.list({ operation: 'create_portfolio' })).data).toHaveLength(1)
    await opened.close()
  })
})
