// Writes the JSON Schemas editors use for fixtures, scenarios and baselines, from those that validate.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const { BaselineSchema } = await load('src/exec/baseline.ts')
const { FixtureSchema } = await load('src/fixtures/fixture-schema.ts')
const { EditorSchema } = await load('src/scenarios/scenario-schema.ts')

for (const [name, schema] of [
  ['baselines/schema.json', BaselineSchema],
  ['fixtures/schema.json', FixtureSchema],
  ['scenarios/schema.json', EditorSchema],
]) {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url))
  writeFileSync(file, JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...schema }))
  execFileSync('npx', ['biome', 'format', '--write', file], { stdio: 'inherit' })
}

/** A module of the sources, which Node cannot load itself. */
async function load(input) {
  const bundle = await rolldown({ cwd: fileURLToPath(new URL('..', import.meta.url)), input, platform: 'node' })
  const dir = mkdtempSync(join(tmpdir(), 'yield-sandbox-schemas-'))
  try {
    const { output } = await bundle.write({ dir, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' })
    return await import(pathToFileURL(join(dir, output[0].fileName)))
  } finally {
    await bundle.close()
    rmSync(dir, { recursive: true })
  }
}
