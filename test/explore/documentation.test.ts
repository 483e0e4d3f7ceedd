import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { SWITCHABLE_SETTINGS } from '../../src/explore/assumptions/switchable-settings.ts'
import { CRASHES } from '../../src/explore/crash/crash-points.ts'
import { HAZARDS } from '../../src/explore/plan/hazards.ts'
import { UNTRIED } from '../../src/explore/plan/plan.ts'
import { ASSUMPTION_WORDS } from '../../src/explore/render/assumption-words.ts'
import { OUTCOMES } from '../../src/explore/render/outcomes.ts'
import { TWINS } from '../../src/explore/twins/twin-points.ts'

let [explore, crashes] = ['', '']
beforeAll(async () => {
  const pages = ['explore', 'crashes'].map((name) => new URL(`../../docs/${name}.md`, import.meta.url))
  ;[explore = '', crashes = ''] = await Promise.all(pages.map((page) => readFile(page, 'utf8')))
})

const namesIn = (table: string) => [...table.matchAll(/`([a-z]+(?:-[a-z0-9]+)*)`/g)].map(([, name]) => name).sort()

test('docs/explore.md names every fault that is tried, and no other', () => {
  const table = explore.slice(explore.indexOf('| fault | where |'), explore.indexOf('What can cost money comes first'))
  expect(namesIn(table)).toEqual(HAZARDS.map(({ id }) => id).sort())
})

test('docs/crashes.md names every kill, and no other', () => {
  const table = crashes.slice(crashes.indexOf('| kill | where |'), crashes.indexOf('Kills before broadcast'))
  expect(namesIn(table)).toEqual(CRASHES.map(({ id }) => id).sort())
})

test('docs/crashes.md names every twin', () => {
  const table = crashes.slice(crashes.indexOf('| point | where |'), crashes.indexOf('The first three are'))
  const fixed = TWINS.filter(({ twin }) => !twin.atOnce).map(({ id }) => id)
  expect(namesIn(table)).toEqual([...fixed, 'twins-at-once-1'].sort())
})

test.each(Object.values(OUTCOMES))('a page names the outcome $name', ({ sign, name }) => {
  expect(explore + crashes).toMatch(new RegExp(`\`[${sign}]\` +\\| ${name}`))
})

test('docs/explore.md names every kind that is not tried, with the reason, and no other', () => {
  const table = explore.slice(explore.indexOf('| kind | why |'), explore.indexOf('| flag '))
  const rows = [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, kind, why = '']) => [
    kind,
    why.replaceAll('`', ''),
  ])
  expect(Object.fromEntries(rows)).toEqual(UNTRIED)
})

test('docs/explore.md names every setting that has another value, its values, and those that are left out', () => {
  const [, section = ''] = explore.split('## Other settings of the service')
  const rows = section.slice(section.indexOf('| setting | values |'), section.indexOf('*Not met* is said'))
  for (const [name, setting] of Object.entries(SWITCHABLE_SETTINGS)) {
    if ('leftOut' in setting) expect(section.slice(section.indexOf('`name`'))).toContain(`\`${name}\``)
    const row = rows.split('\n').find((line) => line.includes(`\`${name}\``))
    expect(row !== undefined, name).toBe('values' in setting)
    for (const value of 'values' in setting ? Object.keys(setting.values) : []) {
      expect(row).toContain(value === '' ? 'none' : value.startsWith('https:') ? 'a web address' : `\`${value}\``)
    }
  }
  for (const { sign, name } of Object.values(ASSUMPTION_WORDS))
    expect(section).toMatch(new RegExp(`\`[${sign}]\`.* \\| ${name} \\|`))
})
