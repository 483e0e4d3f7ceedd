import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Exploration } from '../../src/explore/exploration.ts'
import { renderExploration } from '../../src/explore/render/render-exploration.ts'
import { NO_CHROMIUM, PageOpener } from '../helpers/open-page.ts'
import { ENV, exploring } from './exploring.ts'

const RECORDED = new URL('one-red-cell.generated.json', import.meta.url)
const PICTURE = new URL('../../docs/pictures/explore.png', import.meta.url)
/** True for `npm run build:pictures`, which explores the client again. */
const isUpdate = process.env.BUILD_PICTURES === '1'
const KINDS = [
  ...['reset-on-request', 'reset-before-broadcast', 'reset-after-broadcast', 'reset-during-response', 'half-a-body'],
  ...['unavailable', 'gateway-timeout-after-broadcast', 'revert', 'token-expired', 'cut-json'],
]

/** The exploration in the README's picture: of a client that takes a fresh key when the answer to a large deposit cannot be read. */
async function exploration(): Promise<Exploration> {
  if (isUpdate) {
    const env = { ...ENV, MISTAKE: 'fresh-key-on-cut-answer' }
    const explored = await exploring(['node', 'test/explore/suite.mjs'], { env, kinds: KINDS })
    const results = explored.results.map(({ exchanges: _, ...result }) => result)
    writeFileSync(RECORDED, `${JSON.stringify({ ...explored, command: ['npm', 'test'], results })}\n`)
  }
  return JSON.parse(readFileSync(RECORDED, 'utf8'))
}

test('the client of the picture pays twice at one place alone', async () => {
  const { results } = await exploration()
  const bad = results.filter(({ level }) => level === 'critical' || level === 'serious')
  expect(bad.map(({ trial, outcome }) => [trial.id, outcome])).toEqual([['deposit#1@carol cut-json', 'paid_twice']])
})

test.skipIf(NO_CHROMIUM)('the picture is what the page shows', async () => {
  const opener = await PageOpener.start()
  try {
    const html = renderExploration('html', await exploration())
    const look = { colorScheme: 'light', viewport: { width: 1280, height: 720 } } as const
    const { seen } = await opener.open(html, look, (page) => page.screenshot())
    if (isUpdate) writeFileSync(PICTURE, seen)
    // Fonts differ from machine to machine: the picture that is kept has the same size, and is one.
    expect(readFileSync(PICTURE).subarray(16, 24)).toEqual(seen.subarray(16, 24))
  } finally {
    await opener.stop()
  }
})
