// Writes fixtures/schema.json, the JSON Schema editors use, from the schema that validates. Needs `npm run build` first.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { FixtureSchema } from '../dist/fixtures/fixture-schema.js'

const file = fileURLToPath(new URL('../fixtures/schema.json', import.meta.url))
const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...FixtureSchema }
writeFileSync(file, JSON.stringify(schema))
execFileSync('npx', ['biome', 'format', '--write', file], { stdio: 'inherit' })
