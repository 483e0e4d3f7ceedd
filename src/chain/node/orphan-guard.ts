import { spawn } from 'node:child_process'

// Both read process ids from their standard input, the last one counts, until its end: the system closes it however we die.
// Then they end that process, and only then, within a second, remove the directory: a process on its way out may still
// write there.
const SHELL = `pid=; while read -r line; do pid=$line; done
if [ -n "$pid" ]; then kill -9 "$pid"; n=0
while kill -0 "$pid" 2>/dev/null && [ $n -lt 20 ]; do n=$((n+1)); sleep 0.05; done; fi; rm -rf "$0"`
const SCRIPT = `let text = ''
process.stdin.on('data', (chunk) => { text += chunk }).on('end', () => {
  const pid = Number(text.split('\\n').at(-2))
  if (pid) try { process.kill(pid, 'SIGKILL') } catch {}
  require('node:fs').rmSync(process.argv[1], { recursive: true, force: true, maxRetries: 10 })
})`

/** What ends an Anvil and removes its files, should we vanish without saying goodbye. */
export interface OrphanGuard {
  /** From now on this process is to be ended; undefined for none, as soon as it is known to be gone: its number can be used anew. */
  watch(pid: number | undefined): void
  callOff(): void
}

/**
 * Starts a small process that outlives ours and, should ours be killed or crash, kills the process it was told of and
 * removes `directory`. Start it before either is made.
 */
export function guardAgainstOrphan(directory: string, onFailure: (error: Error) => void): OrphanGuard {
  const [command, args] = process.platform === 'win32' ? [process.execPath, ['-e', SCRIPT]] : ['sh', ['-c', SHELL]]
  const guard = spawn(command, [...args, directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // out of the terminal's process group, so that Ctrl-C does not end it before us
    windowsHide: true,
    cwd: '/',
  })
  guard.on('error', onFailure)
  guard.unref()
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref()
  guard.stdin.on('error', () => {}) // the guard was called off
  return {
    watch: (pid) => guard.stdin.write(`${pid ?? ''}\n`),
    callOff: () => {
      guard.kill('SIGKILL')
      guard.stdin.destroy()
    },
  }
}
