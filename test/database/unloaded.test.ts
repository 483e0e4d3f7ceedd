import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Command } from '../cli/command.ts'

/** Prints, at its end, the names of all files that a process has loaded. */
const NOTES = `
const vm = require('node:vm')
const Module = require('node:module')
const files = new Set()
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options)
    files.add(options.filename)
  }
}
const { _compile } = Module.prototype
Module.prototype._compile = function (code, name, ...rest) {
  files.add(name)
  return _compile.call(this, code, name, ...rest)
}
process.on('exit', () => process.stderr.write('\\nloaded: ' + JSON.stringify([...files]) + '\\n'))
`
/** Text that only the driver has: how it proves a password. */
const OF_DRIVER = 'SCRAM-SHA-256'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-unloaded-'))
  writeFileSync(join(folder, 'notes.cjs'), NOTES)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The files that a start has loaded, as soon as it has ended; a sandbox that comes up is stopped. */
async function loadedBy(...flags: string[]): Promise<string[]> {
  const env = { NODE_OPTIONS: `--require ${join(folder, 'notes.cjs')}` }
  const command = new Command(['start', '--port', '0', '--json', ...flags], { env })
  await command.credentials().then(
    () => command.kill('SIGTERM'),
    () => undefined, // it could not start, and has ended
  )
  const { stderr } = await command.ended
  return JSON.parse(/^loaded: (.*)$/m.exec(stderr)?.[1] ?? '[]')
}

const driversIn = (files: readonly string[]) => files.filter((file) => readFileSync(file, 'utf8').includes(OF_DRIVER))

test('a start without a database loads neither the driver nor what else a database needs', async () => {
  const files = await loadedBy('--data-dir', join(folder, 'data'))
  expect(files.filter((file) => file.includes('/dist/')).length).toBeGreaterThan(3)
  expect(driversIn(files)).toEqual([])
  expect(files.filter((file) => file.endsWith('open-database.js'))).toEqual([])
})

test('one with a database does', async () => {
  expect(driversIn(await loadedBy('--database', 'postgres://127.0.0.1:1/nowhere'))).toHaveLength(1)
})
