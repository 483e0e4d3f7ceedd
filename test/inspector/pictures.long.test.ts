import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { NO_CHROMIUM } from '../helpers/open-page.ts'
import { inspected } from './inspector-page.ts'
import { playStory } from './story.ts'

const FOLDER = new URL('../../docs/pictures/', import.meta.url)

/** The pictures of the README, by name: the place, and a text that is there when everything is. */
const PICTURES: readonly (readonly [name: string, place: string, text: string])[] = [
  ['paid-twice', '#operations', '250.00 too much'],
  ['money', '#money/acme%2Fbob', 'How the principal came about'],
]

/** True for `npm run build:pictures`. */
const isUpdate = process.env.BUILD_PICTURES === '1'

describe.skipIf(NO_CHROMIUM)('pictures', () => {
  const on = inspected(playStory, { clock: '2026-11-23T09:00:00Z' })

  test.each(PICTURES)('%s is as the page shows it', async (name, place, text) => {
    const opened = await on.open(place, {
      viewport: { width: 1280, height: 720 },
    })
    if (place.startsWith('#operations')) await opened.page.locator('.row.bad').click()
    await opened.page.getByText(text).first().waitFor()
    await opened.page.getByText('Live', { exact: true }).waitFor()
    const taken = await opened.page.screenshot()
    expect(opened.complaints).toEqual([])
    const file = new URL(`${name}.png`, FOLDER)
    if (isUpdate) {
      await mkdir(FOLDER, { recursive: true })
      await writeFile(file, taken)
    }
    // Fonts and hashes differ from machine to machine: the picture that is kept has the same size, and is one.
    const kept = await readFile(file)
    expect(kept.subarray(16, 24)).toEqual(taken.subarray(16, 24))
    await opened.close()
  })
})
