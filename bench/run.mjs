import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { database } from './database.mjs'
import { deposits } from './deposits.mjs'
import { exec } from './exec.mjs'
import { explore } from './explore.mjs'
import { faults } from './faults.mjs'
import { forwarding } from './forwarding.mjs'
import { held } from './held.mjs'
import { join } from './join.mjs'
import { memory } from './memory.mjs'
import { namespaces } from './namespaces.mjs'
import { packageFigures } from './package.mjs'
import { page } from './page.mjs'
import { requests } from './requests.mjs'
import { reset } from './reset.mjs'
import { scale } from './scale.mjs'
import { startup } from './startup.mjs'
import { stored } from './stored.mjs'
import { ratiosOf, warningsOf, withRun } from './support/figures.mjs'
import { inPackage } from './support/processes.mjs'
import { table } from './support/table.mjs'
import { team } from './team.mjs'
import { watching } from './watching.mjs'

const PARTS = { startup, exec, requests, faults, deposits, reset, package: packageFigures }
/** Minutes each: measured when named only. */
const LONG_PARTS = {
  join,
  scale,
  held,
  stored,
  memory,
  namespaces,
  team,
  watching,
  page,
  explore,
  forwarding,
  database,
}
const ALL_PARTS = { ...PARTS, ...LONG_PARTS }

/** Ratios of earlier runs. */
const FIGURES = inPackage('bench/figures.json')

/** `--brief` measures `startup` and `requests` in some 20 seconds, without Mockoon; `--record` keeps the ratios for later runs. */
const ADVICE =
  'Other work on the machine changes ratios, too: measure again on a quiet one before you look for a cause, and at the commit before.\n'

const { values: options, positionals } = parseArgs({
  options: {
    mockoon: { type: 'string' },
    beside: { type: 'string' },
    brief: { type: 'boolean' },
    record: { type: 'boolean' },
  },
  allowPositionals: true,
})
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

const recorded = existsSync(FIGURES) ? JSON.parse(readFileSync(FIGURES, 'utf8')) : []
const { version: node } = process
if (options.record) {
  const [{ model }, ...others] = cpus()
  const run = {
    node,
    machine: `${1 + others.length} × ${model.trim()}`,
    recorded: new Date().toISOString().slice(0, 10),
    ratios: ratiosOf(rows),
  }
  writeFileSync(FIGURES, `${JSON.stringify(withRun(recorded, run), null, 2)}\n`)
} else {
  const warnings = warningsOf(rows, recorded, node)
  for (const warning of warnings) process.stdout.write(`warning: ${warning}\n`)
  if (warnings.length > 0) process.stdout.write(ADVICE)
}
