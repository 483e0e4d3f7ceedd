import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { inPackage, launch } from './support/processes.mjs'
import { median, times } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

/** Debian's, or another one. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const COUNTS = [10, 1000, 10_000]
const ROUNDS = 7
/** Milliseconds after which a sandbox has judged what was looked at. */
const JUDGED_MS = 2500

/** Script of a page that notes when its first row is there. */
const NOTE_ROW = `new MutationObserver((_, observer) => {
  if (!document.querySelector('.row')) return
  window.firstRow = performance.now()
  observer.disconnect()
}).observe(document, { childList: true, subtree: true })`
const MOMENTS = `(() => {
  const { loadEventEnd } = performance.getEntriesByType('navigation')[0]
  return { 'after the page began to load': window.firstRow, 'after its load event': window.firstRow - loadEventEnd }
})()`

/**
 * When the inspector has its first row, in a Chromium of its own for each round: at the first look at a record, and at the next one by
 * another profile. `beside`: folder of another checkout, which is built, to be measured in turns with this one.
 */
export async function page({ beside }) {
  if (!existsSync(CHROMIUM)) return [{ what: 'the first row of the inspector', note: 'skipped: there is no Chromium' }]
  const folders = [inPackage('.'), ...(beside === undefined ? [] : [beside])]
  const rows = []
  for (const count of COUNTS) {
    const taken = folders.map(() => [])
    for (let round = 0; round < ROUNDS; round++) {
      const turns = folders.map((folder, i) => async () => taken[i].push(await looks(folder, count)))
      for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn()
    }
    for (const name of Object.keys(taken[0][0])) {
      const [value, reference] = taken.map((all) => median(all.map((one) => one[name])))
      const what = `first row of ${count.toLocaleString('en')} operations, ${name}`
      rows.push({
        what,
        unit: 'ms',
        value,
        beside: beside ?? '',
        reference,
        aim: name.endsWith('event') ? '<= 100' : '',
      })
    }
  }
  return rows
}

/** Starts a sandbox and a browser, and looks twice. */
async function looks(folder, count) {
  const flags = ['start', '--port', '0', '--json', '--log-level', 'error', '--confirmation-delay', '0']
  const { line, stop } = await launch(process.execPath, [join(folder, 'bin/yield-sandbox.js'), ...flags])
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    const credentials = JSON.parse(line)
    const tenant = await Tenant.connect(credentials)
    const { portfolio } = await tenant.endUser('carol')
    const [pool] = (await tenant.pools()).data
    const { deposit } = await portfolio(pool)
    await times(count, 10, () => deposit(0).catch(() => {})) // refused: only the record grows
    tenant.close()
    const found = {}
    for (const look of ['first look', 'next look']) {
      const tab = await browser.newPage()
      await tab.addInitScript(NOTE_ROW)
      await tab.goto(credentials.base_url)
      await tab.locator('.row').first().waitFor()
      for (const [moment, at] of Object.entries(await tab.evaluate(MOMENTS))) found[`${look}, ${moment}`] = at
      await tab.waitForTimeout(JUDGED_MS)
      await tab.close()
    }
    return found
  } finally {
    await browser.close()
    await stop()
  }
}
