// Writes a wrong client into a folder: node examples/wrong-clients/make.mjs fresh-key-on-deposit-retry /tmp/wrong
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MISTAKES } from './mistakes.mjs'
import { wrongSource } from './wrong-source.mjs'

const [id, folder] = process.argv.slice(2)
if (folder === undefined || !MISTAKES.some((one) => one.id === id)) {
  console.error('node make.mjs <id> <folder>, where <id> is one of:')
  for (const { id, what } of MISTAKES) console.error(`  ${id.padEnd(32)} ${what}`)
  process.exit(2)
}
mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(wrongSource(id))) writeFileSync(join(folder, name), text)
// So that its files are read as modules.
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
