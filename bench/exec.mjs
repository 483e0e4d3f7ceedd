import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { inPackage } from './support/processes.mjs'
import { alternate, timed } from './support/stats.mjs'

const ROUNDS = 9
const FOUR = ['dropped-deposit', 'dropped-withdraw', 'expired-cursor', 'slow-confirmation'].flatMap((name) => [
  '--scenario',
  name,
])

/**
 * Milliseconds from the start of the process to its end of `exec -- true`: all that a sandbox adds to a test suite, its start, the report
 * and its end. Beside it, `start` that is ended as soon as it is ready, and four scenarios at once.
 */
export async function exec() {
  const command = (...flags) => ['bin/yield-sandbox.js', 'exec', ...flags, '--', 'true']
  const measurements = {
    exec: () => ended(command()),
    four: () => ended(command(...FOUR)),
    start: () => ended(['bin/yield-sandbox.js', '--port', '0', '--json', '--log-level', 'error'], { untilReady: true }),
    node: () => ended(['--eval', '0']),
  }
  await alternate(measurements, 1) // fills the disk's cache
  const { exec: value, four, start, node } = await alternate(measurements, ROUNDS)
  return [
    { what: 'exec -- true', value, unit: 'ms', beside: 'start, ended when ready', reference: start },
    { what: 'exec -- true', value, unit: 'ms', beside: 'Node doing nothing', reference: node },
    { what: 'exec of four scenarios -- true', value: four, unit: 'ms', beside: 'exec -- true', reference: value },
  ]
}

/** Milliseconds until a Node process has ended, told to when it has printed something or by itself. */
const ended = (args, { untilReady = false } = {}) =>
  timed(async () => {
    const stdio = ['ignore', untilReady ? 'pipe' : 'ignore', 'ignore']
    const child = spawn(process.execPath, args, { cwd: inPackage(''), stdio })
    child.stdout?.once('data', () => child.kill('SIGTERM'))
    await once(child, 'exit')
  })
