import { spawn } from 'node:child_process'

// Both wait for the end of their standard input, which the system closes however we die, then end the process given.
// Only then, within a second, is the directory removed: a process on its way out may still write there.
const SHELL = `while read -r _; do :; done; kill -9 "$0"; n=0
while kill -0 "$0" 2>/dev/null && [ $n -lt 20 ]; do n=$((n+1)); sleep 0.05; done; rm -rf "$1"`
const SCRIPT = `process.stdin.resume().on('end', () => {
  try { process.kill(Number(process.argv[1]), 'SIGKILL') } catch {}
  require('node:fs').rmSync(process.argv[2], { recursive: true, force: true, maxRetries: 10 })
})`

/**
 * Starts a small process that outlives ours and, should ours vanish without saying goodbye (SIGKILL, a crash), kills the
 * process `pid` and removes `directory`. Returns a function that calls it off; do so as soon as `pid` is known to be
 * gone, before its number can be used anew.
 */
export function guardAgainstOrphan(pid: number, directory: string, onFailure: (error: Error) => void): () => void {
  const [command, args] = process.platform === 'win32' ? [process.execPath, ['-e', SCRIPT]] : ['sh', ['-c', SHELL]]
  const guard = spawn(command, [...args, String(pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // out of the terminal's process group, so that Ctrl-C does not end it before us
    windowsHide: true,
    cwd: '/',
  })
  guard.on('error', onFailure)
  guard.unref()
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref()
  guard.stdin.on('error', () => {}) // the guard was called off
  return () => {
    guard.kill('SIGKILL')
    guard.stdin.destroy()
  }
}
