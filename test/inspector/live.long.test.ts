import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { InspectorPage, inspected } from './inspector-page.ts'
import { AMOUNT } from './story.ts'

describe.skipIf(NO_CHROMIUM)('a page that stays open', () => {
  const on = inspected()

  const inNamespace = async (name: string) => {
    const mine = await on.sandbox.namespaces.create({ name })
    const partner = new Partner(mine)
    return { mine, partner, portfolio: await partner.open('alice') }
  }

  test('eight tabs at once: each shows what comes, and the interface still answers', async () => {
    const { partner, portfolio } = await inNamespace('tabs')
    const profile = await on.profile()
    const tabs = await Promise.all(
      Array.from({ length: 7 }, () => InspectorPage.open(profile, `${on.origin}/#operations?namespace=tabs`)),
    )
    for (const { page } of tabs) await page.getByText('Live', { exact: true }).waitFor()
    tabs.push(await InspectorPage.open(profile, `${on.origin}/#operations?namespace=tabs`)) // when the stream has begun
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
    const opened = await on.open('#operations?namespace=filter&user=carol')
    await opened.page.getByText('No operation passes the filter').waitFor()
    await partner.open('bob')
    await partner.open('carol')
    await opened.page.locator('.row', { hasText: 'carol' }).waitFor()
    expect(await opened.page.locator('.row', { hasText: 'bob' }).count()).toBe(0)
    await opened.close()
  })

  test('a jump of a month is a heading, and the clock in the corner follows', async () => {
    const { mine, partner, portfolio } = await inNamespace('month')
    const opened = await on.open('#operations?namespace=month')
    await opened.page.locator('.row', { hasText: 'New portfolio' }).waitFor()
    await mine.clock.advance('31d')
    await opened.page.locator('.clock', { hasText: '+31 days' }).waitFor()
    await partner.deposit('alice', portfolio, AMOUNT)
    await opened.page.getByText('clock moved on by 31 days').waitFor()
    await opened.close()
  })

  test('a reset empties the list, and a deleted namespace says so', async () => {
    const { mine } = await inNamespace('ending')
    const opened = await on.open('#operations?namespace=ending')
    await opened.page.locator('.row').first().waitFor()
    await mine.reset()
    await opened.page.getByText('No request yet').waitFor()
    await on.sandbox.namespaces.delete('ending')
    await opened.page.getByText('Namespace deleted').waitFor()
    await opened.page.getByText('There is no such namespace any more.').waitFor()
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
    const opened = await on.open('#operations/latest?namespace=hostile')
    for (const view of ['operations', 'operations/latest', 'money/mallory', 'chain', 'verdict', 'control']) {
      await opened.page.goto(`${on.origin}/#${view}?namespace=hostile&text=${encodeURIComponent('')}`)
      await opened.page.locator('main').getByText(/./).first().waitFor()
    }
    expect(await opened.page.evaluate('window.struck')).toBeUndefined()
    expect(opened.complaints.filter((text) => /Content.Security|script/i.test(text))).toEqual([])
    await opened.close()
  })

  test('behind a proxy that holds streams back the page asks instead', async () => {
    const { partner, portfolio } = await inNamespace('proxy')
    const proxy = await proxyTo(on.origin, holdBack)
    const { port } = proxy.address() as AddressInfo
    const opened = await on.open(`http://127.0.0.1:${port}/#operations?namespace=proxy`)
    await opened.page.getByText('Live, by asking').waitFor()
    await partner.deposit('alice', portfolio, AMOUNT)
    await opened.page.locator('.row', { hasText: 'Deposit' }).waitFor()
    await opened.close()
    proxy.closeAllConnections()
    proxy.close()
  })

  test('a stream that is cut goes on where it was: what came meanwhile shows, and nothing is read anew', async () => {
    const { partner, portfolio } = await inNamespace('cut')
    const asked: string[] = []
    let cut = () => {}
    const proxy = await proxyTo(on.origin, (answer, response, request) => {
      asked.push(request.url ?? '')
      pass(answer, response)
      if (request.url?.includes('/events')) cut = () => response.destroy()
    })
    const { port } = proxy.address() as AddressInfo
    const opened = await on.open(`http://127.0.0.1:${port}/#operations?namespace=cut`)
    await opened.page.getByText('Live', { exact: true }).waitFor()
    await opened.page.locator('.row', { hasText: 'New portfolio' }).waitFor()
    cut()
    await partner.deposit('alice', portfolio, AMOUNT)
    await opened.page.locator('.row', { hasText: 'Deposit' }).waitFor()
    const streams = asked.filter((url) => url.includes('/events'))
    expect(streams).toHaveLength(2)
    expect(streams[1]).toMatch(/last_event_id=\w+\.\d+$/)
    expect(asked.filter((url) => url.includes('/operations?'))).toHaveLength(1)
    await opened.close()
    proxy.closeAllConnections()
    proxy.close()
  })

  test('of a burst, what is left out is counted, and shown when somebody asks for it', async () => {
    const { partner } = await inNamespace('burst')
    const opened = await on.open('#operations?namespace=burst')
    await opened.page.getByText('Live', { exact: true }).waitFor()
    const wave = () => Promise.all(Array.from({ length: 300 }, () => partner.get('nowhere')))
    for (let i = 0; i < 4; i++) await wave()
    const more = opened.page.getByRole('button', { name: /more came at once: show them/ })
    await more.waitFor()
    await more.click()
    await opened.page.getByText(/^▸ 12\d\d calls that move no money/).waitFor()
    await opened.close()
  })

  test('after two hours in which nothing happened, what comes shows', async () => {
    const { partner, portfolio } = await inNamespace('silence')
    const profile = await on.profile()
    await profile.clock.install()
    const opened = await InspectorPage.open(profile, `${on.origin}/#operations?namespace=silence`)
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
    const opened = await on.open(`${address}/`)
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

type Answering = (answer: IncomingMessage, response: ServerResponse, request: IncomingMessage) => void

/** A proxy that answers as it is told. */
async function proxyTo(target: string, answering: Answering): Promise<Server> {
  const server = createServer((request, response) => {
    const { hostname, port } = new URL(target)
    const { method, url, headers } = request
    const passed = httpRequest({ hostname, port, method, path: url, headers }, (answer) =>
      answering(answer, response, request),
    )
    passed.on('error', () => response.destroy())
    request.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** Hands an answer on as it comes. */
function pass(answer: IncomingMessage, response: ServerResponse): void {
  answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers))
}

/** Hands an answer on when all of it is there: a stream of events never is. */
function holdBack(answer: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = []
  answer.on('data', (part: Buffer) => parts.push(part))
  answer.on('end', () => response.writeHead(answer.statusCode ?? 502, answer.headers).end(Buffer.concat(parts)))
}
