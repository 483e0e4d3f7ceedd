import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { SWITCHABLE_SETTINGS } from '../../src/explore/assumptions/switchable-settings.ts'
import { HAZARDS } from '../../src/explore/plan/hazards.ts'
import { UNTRIED } from '../../src/explore/plan/plan.ts'
import { ASSUMPTION_WORDS } from '../../src/explore/render/assumption-words.ts'
import { OUTCOMES } from '../../src/explore/render/outcomes.ts'

test('docs/explore.md names every fault that is tried and every outcome, and no other fault', async () => {
  const text = await readFile(new URL('../../docs/explore.md', import.meta.url), 'utf8')
  const table = text.slice(text.indexOf('| fault | where |'), text.indexOf('What can cost money comes first'))
  const named = [...table.matchAll(/`([a-z]+(?:-[a-z0-9]+)*)`/g)].map(([, name]) => name)
  expect(named.sort()).toEqual(HAZARDS.map(({ id }) => id).sort())
  for (const { sign, name } of Object.values(OUTCOMES)) expect(text).toMatch(new RegExp(`\`[${sign}]\` +\\| ${name}`))
})

test('docs/explore.md names every kind that is not tried, with the reason, and no other', async () => {
  const text = await readFile(new URL('../../docs/explore.md', import.meta.url), 'utf8')
  const table = text.slice(text.indexOf('| kind | why |'), text.indexOf('| flag '))
  const rows = [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, kind, why = '']) => [
    kind,
    why.replaceAll('`', ''),
  ])
  expect(Object.fromEntries(rows)).toEqual(UNTRIED)
})

test('docs/explore.md names every setting that has another value, its values, and those that are left out', async () => {
  const text = await readFile(new URL('../../docs/explore.md', import.meta.url), 'utf8')
  const [, section = ''] = text.split('## Other settings of the service')
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
