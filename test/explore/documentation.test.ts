import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { CRASHES } from '../../src/explore/crash/crash-points.ts'
import { HAZARDS } from '../../src/explore/plan/hazards.ts'
import { UNTRIED } from '../../src/explore/plan/plan.ts'
import { OUTCOMES } from '../../src/explore/render/outcomes.ts'

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
