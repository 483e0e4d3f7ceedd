import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { HAZARDS } from '../../src/explore/plan/hazards.ts'
import { OUTCOMES } from '../../src/explore/render/outcomes.ts'

test('docs/explore.md names every fault that is tried and every outcome, and no other fault', async () => {
  const text = await readFile(new URL('../../docs/explore.md', import.meta.url), 'utf8')
  const table = text.slice(text.indexOf('| fault | where |'), text.indexOf('What can cost money comes first'))
  const named = [...table.matchAll(/`([a-z]+(?:-[a-z]+)*)`/g)].map(([, name]) => name)
  expect(named.sort()).toEqual(HAZARDS.map(({ id }) => id).sort())
  for (const { sign, name } of Object.values(OUTCOMES)) expect(text).toMatch(new RegExp(`\`[${sign}]\` +\\| ${name}`))
})
