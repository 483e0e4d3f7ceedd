import { type ChildProcess, spawn } from 'node:child_process'

/** Kilobytes of data that Anvil may have, some fifteen times what it needs: traces of hostile transactions fill any machine. */
const MOST_DATA = 2 * 1024 * 1024

/**
 * Sets Anvil's limit of memory, and makes it the first to go should the machine's run out: it is replaced, we are not. Then
 * becomes Anvil.
 */
const LIMITED = `{ echo 1000 >/proc/$$/oom_score_adj; ulimit -d ${MOST_DATA}; } 2>/dev/null; exec "$0" "$@"`

/**
 * Starts Anvil in a directory of its own, which is its home as well: neither the configuration of whoever started us nor
 * their environment is its business.
 */
export function spawnAnvil(binary: string, args: readonly string[], directory: string): ChildProcess {
  const linux = process.platform === 'linux'
  return spawn(linux ? '/bin/sh' : binary, linux ? ['-c', LIMITED, binary, ...args] : [...args], {
    cwd: directory,
    env: { HOME: directory, NO_COLOR: '1', RUST_BACKTRACE: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    // Out of the terminal's process group: Ctrl-C must reach the sandbox alone, which then stops Anvil in order.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

/** Whether the shell that should have become Anvil could not, by its exit code (POSIX): in the words of Node for the same. */
export function refusalOfShell(code: number | null): NodeJS.ErrnoException | undefined {
  if (code === 127) return Object.assign(new Error('there is no such file'), { code: 'ENOENT' })
  return code === 126 ? Object.assign(new Error('it may not be executed'), { code: 'EACCES' }) : undefined
}
