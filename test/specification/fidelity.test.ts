import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import { MANIFEST } from '../../src/fidelity/manifest.ts'
import { isTest } from '../helpers/named-test.ts'
import { testSandbox } from '../helpers/partner.ts'

const FOLDER = new URL('.', import.meta.url)

test('Fidelity: every row has an id of its own', () => {
  const ids = MANIFEST.map(({ id }) => id)
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([])
})

test('Fidelity: every row says what it is about and what holds, in words', () => {
  const wordless = MANIFEST.filter(({ about, rule, source }) => [about, rule, source].some((text) => !/\w/.test(text)))
  expect(wordless).toEqual([])
  expect(new Set(MANIFEST.map(({ kind }) => kind))).toEqual(new Set(['exact', 'assumed', 'absent']))
})

test('Fidelity: every row names a test that is there', () => {
  expect(
    MANIFEST.filter((row) => !isTest(row.test)).map(({ id, test }) => `${id}: ${test.path}: ${test.name}`),
  ).toEqual([])
})

test('Fidelity: what the tests of the specification are about has a row', () => {
  const abouts = MANIFEST.map(({ about }) => about)
  const numbered = /['"`]([A-Z][A-Za-z -]+? \d+(?:, rule \d+)?)[:,]/g
  const tested = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(new URL(file, FOLDER), 'utf8').matchAll(numbered)].map(([, about]) => about!))
  expect(new Set(tested).size).toBeGreaterThan(40)
  const without = [...new Set(tested)].filter((about) => !abouts.some((row) => `${row},`.startsWith(`${about},`)))
  expect(without).toEqual([])
})

test('Fidelity: GET /_sandbox/fidelity lists them all, with the settings that are active', async () => {
  await using sandbox = await testSandbox({ confirmationDelay: '250ms' })
  const response = await fetch(`${sandbox.controlUrl}/fidelity`)
  const rows = (await response.json()) as { id: string; setting?: { name: string; active: unknown } }[]
  expect(rows.map(({ id }) => id)).toEqual(MANIFEST.map(({ id }) => id))
  expect(rows[0]).toEqual(MANIFEST[0])
  const settings = Object.fromEntries(rows.flatMap(({ setting }) => (setting ? [[setting.name, setting.active]] : [])))
  const expected = Object.entries(DEFAULT_SETTINGS).map(([name, value]) => [`service.${name}`, value])
  expect(settings).toEqual({
    ...Object.fromEntries(expected),
    'options.confirmation_delay': { min: 250, max: 250 },
  })
})
