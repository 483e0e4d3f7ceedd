import { parseArgs } from 'node:util'
import { deposits } from './deposits.mjs'
import { exec } from './exec.mjs'
import { explore } from './explore.mjs'
import { faults } from './faults.mjs'
import { held } from './held.mjs'
import { memory } from './memory.mjs'
import { namespaces } from './namespaces.mjs'
import { packageFigures } from './package.mjs'
import { requests } from './requests.mjs'
import { reset } from './reset.mjs'
import { scale } from './scale.mjs'
import { startup } from './startup.mjs'
import { stored } from './stored.mjs'
import { table } from './support/table.mjs'
import { watching } from './watching.mjs'

const PARTS = { startup, exec, requests, faults, deposits, reset, package: packageFigures }
/** Minutes each: measured when named only. */
const LONG_PARTS = { scale, held, stored, memory, namespaces, watching, explore }
const ALL_PARTS = { ...PARTS, ...LONG_PARTS }

const { values: options, positionals } = parseArgs({ options: { mockoon: { type: 'string' } }, allowPositionals: true })
const unknown = positionals.filter((name) => !Object.hasOwn(ALL_PARTS, name))
if (unknown.length > 0) {
  process.stderr.write(`no such part: ${unknown.join(', ')}; there are ${Object.keys(ALL_PARTS).join(', ')}\n`)
  process.exit(2)
}
const rows = []
for (const name of positionals.length > 0 ? positionals : Object.keys(PARTS)) {
  process.stderr.write(`measuring ${name} …\n`)
  rows.push(...(await ALL_PARTS[name](options)))
}
process.stdout.write(`${table(rows)}\n`)
