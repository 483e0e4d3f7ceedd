import { createServer, request as httpRequest, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { InspectorBrowser, InspectorPage } from './inspector-page.ts'
import { AMOUNT } from './story.ts'

describe.skipIf(NO_CHROMIUM)('a page that stays open', () => {
  let sandbox: SandboxHandle
  let browser: InspectorBrowser
  let origin: string

  beforeAll(async () => {
    sandbox = await testSandbox()
    browser = await InspectorBrowser.start()
    origin = new URL(sandbox.baseUrl).origin
  })
  afterAll(async () => {
    await browser?.stop()
    await sandbox?.stop()
  })

  const inNamespace = async (name: string) => {
    const mine = await sandbox.namespaces.create({ name })
    const partner = new Partner(mine)
    return { mine, partner, portfolio: await partner.open('alice') }
  }

  test('eight tabs at once: each shows what comes, and the interface still answers', async () => {
    const { partner, portfolio } = await inNamespace('tabs')
    const profile = await browser.profile()
    const tabs = await Promise.all(
      Array.from({ length: 7 }, () => InspectorPage.open(profile, `${origin}/#operations?namespace=tabs`)),
    )
    for (const { page } of tabs) await page.getByText('Live', { exact: true }).waitFor()
    tabs.push(await InspectorPage.open(profile, `${origin}/#operations?namespace=tabs`)) // when the stream has begun
    await tabs.at(-1)!.page.getByText('Live', { exact: true }).waitFor()
    await partner.deposit('alice', portfolio, AMOUNT)
    for (const { page } of tabs) await page.locator('.row', { hasText: 'Deposit' }).waitFor()
    // A browser has six connections for an origin: streams of all tabs would take them.
    expect(await tabs[0]!.page.evaluate<number>("fetch('/_sandbox/clock').then(({ status }) => status)")).toBe(200)
    await tabs[0]!.page.close()
    await partner.withdraw('alice', portfolio, AMOUNT)
    for (const { page } of tabs.slice(1)) await page.locator('.row', { hasText: 'Withdrawal' }).waitFor()
    await profile.close()
  })

  test('a filter holds for what comes in', async () => {
    const { partner } = await inNamespace('filter')
    const opened = await browser.open(`${origin}/#operations?namespace=filter&user=carol`)
    await opened.page.getByText('No operation passes the filter').waitFor()
    await partner.open('bob')
    await partner.open('carol')
    await opened.page.locator('.row', { hasText: 'carol' }).waitFor()
    expect(await opened.page.locator('.row', { hasText: 'bob' }).count()).toBe(0)
    await opened.close()
  })

  test('a jump of a month is a heading, and the clock in the corner follows', async () => {
    const { mine, partner, portfolio } = await inNamespace('month')
    const opened = await browser.open(`${origin}/#operations?namespace=month`)
    await opened.page.locator('.row', { hasText: 'New portfolio' }).waitFor()
    await mine.clock.advance('31d')
    await opened.page.locator('.clock', { hasText: '+31 days' }).waitFor()
    await partner.deposit('alice', portfolio, AMOUNT)
    await opened.page.getByText('clock moved on by 31 days').waitFor()
    await opened.close()
  })

  test('a reset empties the list, and a deleted namespace says so', async () => {
    const { mine } = await inNamespace('ending')
    const opened = await browser.open(`${origin}/#operations?namespace=ending`)
    await opened.page.locator('.row').first().waitFor()
    await mine.reset()
    await opened.page.getByText('No request yet').waitFor()
    await sandbox.namespaces.delete('ending')
    await opened.page.getByText('Namespace deleted').waitFor()
    await opened.close()
  })

  test('text of clients is text, whatever it is', async () => {
    const { partner } = await inNamespace('hostile')
    const hostile = '<script>window.struck=1</script>"><img src=x onerror="window.struck=1">'
    await partner.post('end_users', { external_id: 'mallory' })
    await partner.post('end_users/mallory/portfolios', await partner.portfolioBody('aave-usdc', hostile.slice(0, 60)))
    await partner.ask('POST', 'end_users', {
      body: { external_id: hostile },
      key: hostile,
      headers: { 'user-agent': hostile },
    })
    await partner.get(encodeURIComponent(hostile))
    const opened = await browser.open(`${origin}/#operations/latest?namespace=hostile`)
    for (const view of ['operations', 'operations/latest', 'money/mallory', 'chain', 'verdict', 'control']) {
      await opened.page.goto(`${origin}/#${view}?namespace=hostile&text=${encodeURIComponent('')}`)
      await opened.page.locator('main').getByText(/./).first().waitFor()
    }
    expect(await opened.page.evaluate('window.struck')).toBeUndefined()
    expect(opened.complaints.filter((text) => /Content.Security|script/i.test(text))).toEqual([])
    await opened.close()
  })

  test('behind a proxy that holds streams back the page asks instead', async () => {
    const { partner, portfolio } = await inNamespace('proxy')
    const proxy = await bufferingProxy(origin)
    const { port } = proxy.address() as { port: number }
    const opened = await browser.open(`http://127.0.0.1:${port}/#operations?namespace=proxy`)
    await opened.page.getByText('Live, by asking').waitFor()
    await partner.deposit('alice', portfolio, AMOUNT)
    await opened.page.locator('.row', { hasText: 'Deposit' }).waitFor()
    await opened.close()
    proxy.closeAllConnections()
    proxy.close()
  })

  test('after two hours in which nothing happened, what comes shows', async () => {
    const { partner, portfolio } = await inNamespace('silence')
    const profile = await browser.profile()
    await profile.clock.install()
    const opened = await InspectorPage.open(profile, `${origin}/#operations?namespace=silence`)
    await opened.page.getByText('Live', { exact: true }).waitFor()
    await profile.clock.fastForward('02:00:00')
    await partner.deposit('alice', portfolio, AMOUNT)
    await opened.page.locator('.row', { hasText: 'Deposit' }).waitFor()
    await opened.page.getByText('Live', { exact: true }).waitFor()
    await opened.close()
  })

  test('a server that goes and comes back is found again', async () => {
    const first = await testSandbox()
    const { port, origin: address } = new URL(first.baseUrl)
    const opened = await browser.open(`${address}/`)
    await opened.page.getByText('Live', { exact: true }).waitFor()
    await first.stop()
    await opened.page.getByText('Reconnecting').waitFor()
    const second = await testSandbox({ port: Number(port) })
    await opened.page.getByText('Live', { exact: true }).waitFor()
    await new Partner(second).open('dave')
    await opened.page.locator('.row', { hasText: 'dave' }).first().waitFor()
    await opened.close()
    await second.stop()
  })
})

/** A proxy that hands an answer on when all of it is there: a stream of events never is. */
async function bufferingProxy(target: string): Promise<Server> {
  const server = createServer((request, response) => {
    const { hostname, port } = new URL(target)
    const passed = httpRequest(
      { hostname, port, method: request.method, path: request.url, headers: request.headers },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () => response.writeHead(answer.statusCode ?? 502, answer.headers).end(Buffer.concat(parts)))
      },
    )
    passed.on('error', () => response.destroy())
    request.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
