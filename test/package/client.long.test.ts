import { chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import type * as client from '../../src/client.ts'
import { installedChromium } from '../helpers/installed-chromium.ts'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { testSandbox } from '../helpers/partner.ts'
import { bundledClient } from './client-bundle.ts'

test.skipIf(NO_CHROMIUM)("a page of the sandbox's own origin controls it; another page may not", async () => {
  const sandbox = await testSandbox()
  const browser = await chromium.launch({ executablePath: installedChromium()!, args: ['--no-sandbox'] })
  onTestFinished(async () => {
    await browser.close()
    await sandbox.stop()
  })
  const origin = new URL(sandbox.controlUrl).origin
  const script = await bundledClient()
  const advanced = async (place: string) => {
    const page = await browser.newPage()
    await page.goto(place)
    await page.evaluate(script.replace('var bundled=', 'globalThis.bundled='))
    return page.evaluate(async (url) => {
      const { connectSandbox } = (globalThis as unknown as { bundled: typeof client }).bundled
      const own = await connectSandbox({ url })
      await own.clock.freeze()
      await own.clock.advance('8d')
      return { now: await own.clock.iso(), chain: await own.chain.getChainId() }
    }, origin)
  }
  const { now, chain } = await advanced(`${origin}/_sandbox/health`)
  expect({ now, chain }).toEqual({ now: await sandbox.clock.iso(), chain: 31337 })
  await expect(advanced('about:blank')).rejects.toThrow('no sandbox answers')
})
