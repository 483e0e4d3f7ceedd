// Writes fixtures/schema.json, the JSON Schema editors use, from the schema that validates. Needs `npm run build` first.
import { writeFile } from 'node:fs/promises'
import { FixtureSchema } from '../dist/fixtures/fixture-schema.js'

await writeFile(
  new URL('../fixtures/schema.json', import.meta.url),
  `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...FixtureSchema }, null, 2)}\n`,
)
