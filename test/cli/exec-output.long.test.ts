import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from './command.ts'
import { type ClientName, writeClients } from './exec-clients.ts'

let directory: string
let client: (name: ClientName) => string[]
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-output-'))
  client = writeClients(directory)
})
afterAll(() => rm(directory, { recursive: true }))

// Linux counts the peak of the process that starts another one in the new one's maxRSS, and that of a worker which ran many tests is high.
const NOTE_PEAK = `
const { appendFileSync, existsSync, readFileSync } = require('fs')
const ownPeak = () =>
  existsSync('/proc/self/status')
    ? /VmHWM:\\s*(\\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'))[1]
    : process.resourceUsage().maxRSS
process.on('exit', () => appendFileSync(PEAKS, process.argv[2] + ' ' + ownPeak() + '\\n'))`

describe('a command that prints 100 MB', () => {
  const BYTES = 100_000_000
  const PRINTING = ['sh', '-c', `yes ${'x'.repeat(99)} | head -c ${BYTES}; exec "$@"`, 'sh']
  const ALLOWED_MB = 250

  test.each<[string, readonly string[], number, RegExp]>([
    ['by itself', [], 1, /\nPassed: 3 rules kept, none broken\.\n$/],
    [
      'beside another',
      ['--scenario', 'dropped-deposit', '--scenario', 'slow-confirmation', '--jobs', '2'],
      2,
      /\n0 of 2 scenarios passed; .*\n$/,
    ],
  ])('%s: nothing of it is lost, the verdict comes last, and it costs no memory', async (_, flags, runs, last) => {
    const [output, peaks, note] = ['output', 'peaks', 'note.cjs'].map((name) => join(directory, name))
    await writeFile(note!, NOTE_PEAK.replace('PEAKS', JSON.stringify(peaks)))
    await using file = await open(output!, 'w')
    const command = ['bin/yield-sandbox.js', 'exec', ...flags, '--', ...PRINTING, ...client('pools')]
    const child = spawn(process.execPath, ['--require', note!, ...command], {
      cwd: ROOT,
      stdio: ['ignore', file.fd, file.fd],
    })
    await once(child, 'exit')
    const { size } = await stat(output!)
    expect(size).toBeGreaterThan(runs * BYTES)
    expect(size).toBeLessThan(runs * BYTES + 10_000)
    const parts = (await readFile(output!, 'latin1')).split('x\n200\n')
    expect(parts).toHaveLength(runs + 1)
    expect(parts.at(-1)).toMatch(last)
    const [, peak] = /^exec (\d+)$/m.exec(await readFile(peaks!, 'utf8')) ?? []
    expect(Number(peak) / 1024).toBeLessThan(ALLOWED_MB)
    await rm(peaks!)
  })
})
