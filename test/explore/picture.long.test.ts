import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderExploration } from '../../src/explore/render/render-exploration.ts'
import { NO_CHROMIUM, PageOpener } from '../helpers/open-page.ts'
import { exploration, isUpdate } from './picture.ts'

const PICTURE = new URL('../../docs/pictures/explore.png', import.meta.url)

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
