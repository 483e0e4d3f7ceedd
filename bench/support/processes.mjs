import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Path of a file of this package. */
export const inPackage = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/**
 * Starts a program and resolves with the first line of its stdout that `isReady` accepts, and how long that took from the
 * spawn, in milliseconds. Rejects with the end of its stderr when it ends before that.
 */
export async function launch(command, args, isReady = () => true) {
  const begun = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-2000)
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
  return { line, milliseconds: performance.now() - begun, stop: () => stop(child) }
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

/** Starts a Fastify with one static route and nothing else; prints its origin. `payload` is the route's JSON. */
export async function launchBareFastify(payload) {
  return launch(process.execPath, [inPackage('bench/support/bare-fastify.mjs'), payload])
}
