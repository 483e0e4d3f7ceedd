import { afterEach, describe, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { renderJson } from '../../src/certify/certificate-file.ts'
import { renderPage } from '../../src/certify/render/document-of.ts'
import { renderExploration } from '../../src/explore/render/render-exploration.ts'
import { renderReports } from '../../src/verdict/render/render-reports.ts'
import { sampleEvidence } from '../certify/sample-evidence.ts'
import { sampleExploration } from '../explore/render/sample-exploration.ts'
import { axeFindings } from '../helpers/axe.ts'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { HOSTILE, sampleReport } from '../verdict/render/sample-report.ts'
import { type InspectorPage, inspected, LOOKS } from './inspector-page.ts'
import { playStory } from './story.ts'

// Where there is no Chromium, its part is left out.
describe.skipIf(NO_CHROMIUM)('verdict, explore and files in the inspector', () => {
  const on = inspected(playStory)
  let opened: InspectorPage | undefined
  afterEach(async () => {
    const complaints = opened?.complaints ?? []
    await opened?.close()
    opened = undefined
    expect(complaints).toEqual([])
  })

  async function open(hash: string, look: keyof typeof LOOKS = 'light') {
    opened = await on.open(hash, LOOKS[look])
    return opened.page
  }

  /** Lets go of a file over the page, as somebody does who drags it there. */
  async function drop(page: InspectorPage['page'], name: string, text: string) {
    const file = await page.evaluateHandle(
      `(([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name)); return data })(${JSON.stringify([name, text])})`,
    )
    await page.dispatchEvent('body', 'drop', { dataTransfer: file })
  }

  test('the verdict names the broken rule with its consequence, both keys, the remedy and the requests', async () => {
    const page = await open('#verdict')
    const card = page.locator('#finding-idempotency-key-on-retry')
    await card.waitFor()
    const report = await on.sandbox.report({ ended: false })
    const finding = report.findings.find(({ id }) => id === 'idempotency-key-on-retry')!
    const text = await card.textContent()
    for (const said of [
      finding.title,
      finding.consequence,
      finding.expected!,
      finding.came!,
      finding.fix!,
      finding.rule,
    ]) {
      expect(text).toContain(said)
    }
    const links = await card.locator('a.id').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    expect(links).toEqual(finding.request_ids.map((id) => `#operations/${id}`))
    expect(await card.locator('.again.bad').textContent()).toContain('a new key')
  })

  test('j and k go through all findings, and the address names the one that is chosen', async () => {
    const page = await open('#verdict')
    await page.locator('#finding-idempotency-key-on-retry').waitFor()
    const hashAfter = async (key: string) => {
      await page.keyboard.press(key)
      return page.evaluate('location.hash')
    }
    const first = await hashAfter('j')
    const second = await hashAfter('j')
    expect([first, await hashAfter('k')]).toEqual(['#verdict/idempotency-key-on-retry', first])
    expect(second).not.toBe(first)
    expect(await page.locator('.chosen').getAttribute('id')).toBe('finding-idempotency-key-on-retry')
  })

  test('the verdict is read again while clients go on', async () => {
    const page = await open('#verdict')
    await page.locator('.chips .on', { hasText: 'list_pools' }).waitFor()
    const met = page.locator('.chips li', { hasText: 'not_found' }).first()
    const before = await met.getAttribute('class')
    await fetch(`${on.sandbox.baseUrl}/nowhere`)
    await page.locator('.chips .on', { hasText: 'not_found' }).first().waitFor()
    expect(before).toBe('mute')
  })

  test('an exploration that is dropped is a matrix; the cells lead to its runs; and there is a way back', async () => {
    const page = await open('#operations')
    await page.locator('.row').first().waitFor()
    await drop(page, 'explore.json', renderExploration('json', sampleExploration()))
    await page.locator('.matrix').waitFor()
    expect(await page.evaluate('location.hash')).toBe('#explore')
    await expect
      .poll(() => page.locator('.headline b').textContent())
      .toMatch(/^Paid twice in 4 of \d+ runs, and no test noticed\./)
    expect(await page.locator('.headline p').textContent()).toContain('explore.json')
    expect(await page.locator('.detail').textContent()).toContain('reset after broadcast at deposit 1 of alice')
    await page.keyboard.press('j')
    await expect.poll(() => page.locator('.detail h2').textContent()).toContain('close after broadcast')
    await page.locator('.detail .chip', { hasText: 'deposit 2' }).click()
    await expect.poll(() => page.locator('.detail h2').textContent()).toContain('at deposit 2 of alice')
    await expect.poll(() => page.locator('.cell[aria-current]').getAttribute('aria-label')).toBe('paid twice: 2 of 2')
    await page.getByRole('button', { name: 'Back to live' }).click()
    await expect.poll(() => page.locator('.headline b').textContent()).not.toMatch(/^Paid twice in/)
    await expect.poll(() => page.locator('.matrix').count()).toBe(0)
  })

  const reports = [sampleReport(), { ...sampleReport(), scenario: 'second' }]
  const certificate = certificateOf(sampleEvidence())
  test.each([
    ['a report as JSON', renderReports('json', reports.slice(0, 1)), 'What became of the money'],
    ['a report as a page', renderReports('html', reports.slice(0, 1)), 'What became of the money'],
    ['several reports', renderReports('html', reports), 'Rules by scenario'],
    ['an exploration as a page', renderExploration('html', sampleExploration()), 'Every fault at every request'],
    ['a certificate as JSON', renderJson(certificate), certificate.digest],
    ['a certificate as a page', renderPage(certificate), certificate.digest],
  ])('%s is shown, wide and narrow, light and dark, and axe finds nothing', async (_, text, shown) => {
    for (const look of Object.keys(LOOKS)) {
      const page = await open('#verdict', look)
      await page.locator('.numbers').waitFor()
      await drop(page, 'file', text)
      await page.getByRole('button', { name: 'Back to live' }).waitFor()
      expect(await page.locator('main').textContent()).toContain(shown)
      expect(await page.locator('main a[href^="#operations/"]').count(), 'links to what is not live').toBe(0)
      expect([await axeFindings(page), await opened!.overflow()], look).toEqual([[], 0])
      await opened!.close()
      expect(opened!.complaints).toEqual([])
    }
  })

  test('a file that is chosen by the button is shown as one that is dropped', async () => {
    const page = await open('#verdict')
    const buffer = Buffer.from(renderReports('json', [sampleReport()]))
    await page.locator('input[type=file]').setInputFiles({ name: 'chosen.json', mimeType: 'application/json', buffer })
    await page.locator('.headline', { hasText: 'chosen.json' }).waitFor()
    await page.getByRole('button', { name: 'Back to live' }).click()
    await page.locator('.headline', { hasText: 'chosen.json' }).waitFor({ state: 'detached' })
  })

  test.each([
    ['no JSON', 'hello', 'cannot be read as JSON, nor as a page of yield-sandbox'],
    ['a foreign page', '<!doctype html><p>hello', 'cannot be read as JSON, nor as a page of yield-sandbox'],
    ['other JSON', '{"results":7,"findings":[]}', 'holds no report, exploration or certificate of yield-sandbox'],
    ['null', 'null', 'holds no report, exploration or certificate of yield-sandbox'],
    ['a hollow report', '{"findings":[7],"coverage":[]}', 'is not as this version of yield-sandbox writes it'],
    ['a hollow exploration', '{"results":[{}],"baseline":1}', 'is not as this version of yield-sandbox writes it'],
    [
      'a hollow certificate',
      '{"digest":1,"evidence":{"form":1},"words":1}',
      'is not as this version of yield-sandbox writes it',
    ],
    ['brackets without end', '['.repeat(200_000), 'cannot be read as JSON, nor as a page of yield-sandbox'],
  ])('%s: one sentence, and the page goes on', async (_, text, sentence) => {
    const page = await open('#verdict')
    await page.locator('.numbers').waitFor()
    await drop(page, 'x<b>.json', text)
    await page.locator('.headline', { hasText: sentence }).waitFor()
    expect(await page.locator('.headline b').textContent()).toBe(`x<b>.json ${sentence}.`)
    await page.getByRole('button', { name: 'Back to live' }).click()
    await page.locator('#finding-idempotency-key-on-retry').waitFor()
  })

  test('hostile text in a file is text', async () => {
    const page = await open('#verdict')
    await page.locator('.numbers').waitFor()
    for (const text of HOSTILE.slice(0, 6)) {
      for (const file of [
        renderReports('json', [sampleReport(text)]),
        renderExploration('json', sampleExploration(text)),
      ]) {
        await drop(page, 'hostile.json', file)
        await page.locator('.headline', { hasText: 'hostile.json' }).waitFor()
        expect(await page.locator('main script, main img').count()).toBe(0)
        expect(await page.locator('main').textContent()).not.toMatch(/[\u202e\u2066\u2028]|\p{Cc}/u)
      }
    }
  })
})
