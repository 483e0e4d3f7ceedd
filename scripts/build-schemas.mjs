// Writes the JSON Schemas editors use for fixtures and scenarios, from those that validate. Needs `npm run build` first.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { FixtureSchema } from '../dist/fixtures/fixture-schema.js'
import { EditorSchema } from '../dist/scenarios/scenario-schema.js'

for (const [name, schema] of [
  ['fixtures/schema.json', FixtureSchema],
  ['scenarios/schema.json', EditorSchema],
]) {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url))
  writeFileSync(file, JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...schema }))
  execFileSync('npx', ['biome', 'format', '--write', file], { stdio: 'inherit' })
}
