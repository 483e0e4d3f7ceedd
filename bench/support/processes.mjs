import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Path of a file of this package. */
export const inPackage = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/**
 * Starts a program and resolves with the first line of its stdout that `isReady` accepts, and how long that took from the
 * spawn, in milliseconds. Rejects with the end of its stderr when it ends before that. `onStderr` is told of each piece; `place` has its
 * folder and environment.
 */
export async function launch(
  command,
  args,
  isReady = () => true,
  { ipc = false, onStderr = () => {}, place = {} } = {},
) {
  const begun = performance.now()
  const child = spawn(command, args, { ...place, stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])] })
  let stderr = ''
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-2000)
    onStderr(chunk)
  })
  const line = await new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      const lines = (text + chunk).split('\n')
      text = lines.pop()
      const found = lines.find(isReady)
      if (found !== undefined) resolve(found)
    })
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`${command} ended with ${code} before it was ready: ${stderr}`)))
  })
  return { line, milliseconds: performance.now() - begun, child, stop: () => stop(child) }
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Starts this package's sandbox as its users do; `credentials` is the line it prints. */
export async function launchSandbox(...flags) {
  const command = [inPackage('bin/yield-sandbox.js'), 'start', '--port', '0', '--json', '--log-level', 'error']
  const sandbox = await launch(process.execPath, [...command, ...flags])
  return { ...sandbox, credentials: JSON.parse(sandbox.line) }
}

/** As {@link launchSandbox}, to be asked what it takes; `onStderr` is told of each piece of its log, `place` as for {@link launch}. */
export async function launchProbedSandbox(flags, onStderr, place) {
  const probe = ['--expose-gc', '--import', inPackage('bench/support/memory-probe.mjs')]
  const command = [
    ...probe,
    inPackage('bin/yield-sandbox.js'),
    'start',
    '--port',
    '0',
    '--json',
    '--log-level',
    'error',
  ]
  const sandbox = await launch(process.execPath, [...command, ...flags], () => true, { ipc: true, onStderr, place })
  return { ...sandbox, credentials: JSON.parse(sandbox.line) }
}

/** Bytes of JavaScript objects and of buffers that a probed sandbox really uses: its garbage is collected first. */
export async function heapOf({ child }) {
  child.send('memory')
  const [{ heapUsed, external }] = await once(child, 'message')
  return heapUsed + external
}

/** Milliseconds of processor time that a probed sandbox's own process has taken, on all of its threads. */
export async function cpuOf({ child }) {
  child.send('cpu')
  const [{ cpu }] = await once(child, 'message')
  return (cpu.user + cpu.system) / 1000
}

/** Milliseconds of processor time that a process's threads have taken, those of its children left out; undefined but on Linux. */
export function processorTimeOf(pid) {
  const tasks = `/proc/${pid}/task`
  try {
    const taken = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0])
    return taken.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0) / 1e6
  } catch {
    return undefined
  }
}

/** Milliseconds of processor time that a process has taken with all that it started, ended or not, to a hundredth of a second; on Linux alone. */
export function processorTimeWithChildren(pid) {
  const ticksOf = (one, from, to) => {
    const text = readFileSync(`/proc/${one}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields.slice(from, to).reduce((sum, ticks) => sum + Number(ticks), 0)
  }
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return 10 * children.reduce((sum, child) => sum + ticksOf(child, 11, 13), ticksOf(pid, 11, 15))
}

/** Bytes of memory that a sandbox's process and its Anvil have. */
export function residentOf({ child }) {
  const processes = execFileSync('ps', ['-axo', 'pid=,ppid=,rss=,comm='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const bytes = (isIt) => 1024 * processes.filter(isIt).reduce((sum, [, , kibibytes]) => sum + Number(kibibytes), 0)
  return {
    sandbox: bytes(([pid]) => Number(pid) === child.pid),
    anvil: bytes(([, parent, , name]) => Number(parent) === child.pid && name.endsWith('anvil')),
  }
}

/** Starts a Fastify with one static route and nothing else; prints its origin. `payload` is the route's JSON. */
export async function launchBareFastify(payload) {
  return launch(process.execPath, [inPackage('bench/support/bare-fastify.mjs'), payload])
}
