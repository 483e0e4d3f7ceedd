import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as inFolder } from 'node:path'
import { promisify } from 'node:util'
import { cpuOf, inPackage, launchProbedSandbox } from './support/processes.mjs'
import { alternate, median, times } from './support/stats.mjs'

const ROUNDS = 9
/** Namespaces, and guests, made and ended in a round: the processor time of one is too little to be measured. */
const TIMES = 10

/**
 * Milliseconds of processor time of `exec -- true` within a sandbox that runs, beside one that starts its own: the command's, with all
 * that it starts, and the running sandbox's for the guest. Beside them, what a test takes there, and Node doing nothing.
 */
export async function join() {
  const cwd = mkdtempSync(inFolder(tmpdir(), 'yield-sandbox-bench-'))
  writeFileSync(inFolder(cwd, 'package.json'), '{}') // so the folder is a project, and the sandbox is its
  const place = { cwd, env: { ...process.env, XDG_RUNTIME_DIR: cwd } }
  const sandbox = await launchProbedSandbox([], undefined, place)
  const command = (...flags) => [inPackage('bin/yield-sandbox.js'), 'exec', ...flags, '--', 'true']
  const guests = []
  const measurements = {
    joined: async () => {
      const before = await cpuOf(sandbox)
      const own = await processorTime(command(), place)
      guests.push((await cpuOf(sandbox)) - before)
      return own
    },
    alone: () => processorTime(command('--no-join'), place),
    node: () => processorTime(['--eval', '0'], place),
    test: () => processorTimeOfEach(sandbox, () => makeAndDelete(sandbox)),
    guest: () => processorTimeOfEach(sandbox, () => makeAndStop(sandbox)),
  }
  try {
    await alternate(measurements, 1) // fills the disk's cache, and warms the sandbox up as one that has run for a while
    guests.length = 0
    const { joined, alone, node, test, guest } = await alternate(measurements, ROUNDS)
    const beside = { unit: 'ms', beside: 'exec --no-join -- true', reference: alone }
    return [
      { what: 'processor time of exec -- true in a sandbox that runs', value: joined, ...beside },
      { what: '… of that sandbox, for the run', value: median(guests), ...beside },
      { what: '… of that sandbox, for a guest made and stopped', value: guest, ...beside },
      { what: '… of Node doing nothing', value: node, ...beside },
      { what: '… of that sandbox, for a namespace made and deleted', value: test, ...beside, aim: '<= 0.01' },
    ]
  } finally {
    await sandbox.stop()
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** Milliseconds of processor time of a Node process and of all that it starts and waits for. */
async function processorTime(args, place) {
  const script = '"$@" > /dev/null 2>&1; times'
  const { stdout } = await promisify(execFile)('sh', ['-c', script, 'sh', process.execPath, ...args], place)
  const [, ofChildren = ''] = stdout.trim().split('\n')
  return ofChildren.split(' ').reduce((sum, text) => {
    const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text)
    return sum + 60_000 * Number(minutes) + 1000 * Number(seconds)
  }, 0)
}

/** Milliseconds of processor time that a sandbox takes for a task. */
async function processorTimeOfEach(sandbox, task) {
  const before = await cpuOf(sandbox)
  await times(TIMES, 1, task)
  return ((await cpuOf(sandbox)) - before) / TIMES
}

async function makeAndStop({ credentials }) {
  const made = await fetch(`${credentials.control_url}/guests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ pid: process.pid }),
  })
  const guest = (await made.json()).credentials
  await fetch(`${guest.control_url}/stop`, { method: 'POST' })
}

async function makeAndDelete({ credentials }) {
  const made = await fetch(`${credentials.control_url}/namespaces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  const { control_url } = await made.json()
  await fetch(control_url, { method: 'DELETE' })
}
