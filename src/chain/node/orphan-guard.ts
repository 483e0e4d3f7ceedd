import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'

/** Guards one Anvil: ends it and removes its directory if our process dies without doing so. */
export interface AnvilGuard {
  /** Sets the process to kill. Pass undefined as soon as the process is known to have ended: its id can be reused. */
  watch(pid: number | undefined): void
  /** Ends the guard. Call it when the process has ended and the directory is removed. */
  callOff(): void
}

/** Directory and process of one Anvil, which our death would leave behind. */
interface Remains {
  directory: string
  pid: number | undefined
}

// Both programs read lines from standard input until its end: the system closes it however we die. A line is `dir` or `pid`, the
// Anvil's place, the value, which is empty when there is none any more. Then they kill all processes, and remove the directories after
// their end, within a second: a process that is ending may still write there.

/** Has two variables for each place. It clears them when the place is new, since the environment may have variables of these names. */
const SHELL = String.raw`n=0
while read -r what place value; do
  while [ $n -lt "$place" ]; do n=$((n+1)); eval "pid$n= dir$n="; done
  eval "$what$place=\$value"
done
i=0 pids=
while [ $i -lt $n ]; do
  i=$((i+1)); eval "pids=\"\$pids \$pid$i\""
done
for pid in $pids; do kill -9 $pid; done 2>/dev/null
t=0
for pid in $pids; do
  while kill -0 $pid && [ $t -lt 20 ]; do t=$((t+1)); sleep 0.05; done
done 2>/dev/null
i=0
while [ $i -lt $n ]; do
  i=$((i+1)); eval "dir=\$dir$i"
  case $dir in *\\*) dir=$(printf %b "$dir") ;; esac
  [ -z "$dir" ] || set -- "$@" "$dir"
done
[ $# -eq 0 ] || rm -rf "$@"`

const SCRIPT = String.raw`const held = { pid: new Map(), dir: new Map() }
let rest = ''
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const [, what, place, value] = /^(\w+) (\d+) (.*)$/.exec(line)
    held[what].set(place, value)
  }
}).on('end', () => {
  for (const pid of held.pid.values()) if (pid) try { process.kill(Number(pid), 'SIGKILL') } catch {}
  for (const dir of held.dir.values()) if (dir) try {
    const path = dir.replace(/\\(.)/g, (_, escaped) => escaped === 'n' ? '\n' : escaped)
    require('node:fs').rmSync(path, { recursive: true, force: true, maxRetries: 10 })
  } catch {}
})`

/** Writes a path, which may have any characters, as the value of a line. The slash keeps a space at the end, which the shell would remove. */
function escaped(path: string): string {
  return `${path.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}/`
}

/**
 * Guards all Anvils of this process by one watchdog: a small process that outlives ours. One for all, since to spawn it costs a large process
 * more than ten milliseconds, in which the event loop stands still.
 */
class OrphanGuard {
  /** By place: a number from 1 that is used again, so that the watchdog knows no more of them than there were Anvils at once. */
  readonly #guarded = new Map<number, Remains>()
  /** Runs while anything is guarded; undefined even then if it could not be spawned, or if somebody has ended it. */
  #watchdog: ChildProcess | undefined

  /**
   * Guards an Anvil and its directory; call it before either exists. Spawns the watchdog if none runs. If that fails, calls `onFailure`; the
   * next call tries again, for all that are guarded by then.
   */
  guard(directory: string, onFailure: (error: Error) => void): AnvilGuard {
    if (!this.#watchdog) this.#spawnWatchdog(onFailure)
    let place = 1
    while (this.#guarded.has(place)) place++
    const remains: Remains = { directory: resolve(directory), pid: undefined }
    this.#guarded.set(place, remains)
    this.#send('dir', place, escaped(remains.directory))
    const isMine = () => this.#guarded.get(place) === remains // after it is called off, the place may be another one's
    return {
      watch: (pid) => {
        if (isMine()) this.#watch(place, remains, pid)
      },
      callOff: () => {
        if (isMine()) this.#callOff(place)
      },
    }
  }

  #watch(place: number, remains: Remains, pid: number | undefined): void {
    remains.pid = pid
    this.#send('pid', place, pid)
  }

  #callOff(place: number): void {
    this.#guarded.delete(place)
    if (this.#guarded.size > 0) {
      this.#send('pid', place)
      this.#send('dir', place)
      return
    }
    // Killed rather than waited for. The next Anvil gets another one, even before this one is known to have ended.
    this.#watchdog?.kill('SIGKILL')
    this.#watchdog?.stdin?.destroy()
    this.#watchdog = undefined
  }

  #send(what: 'dir' | 'pid', place: number, value: string | number = ''): void {
    this.#watchdog?.stdin?.write(`${what} ${place} ${value}\n`)
  }

  #spawnWatchdog(onFailure: (error: Error) => void): void {
    const [command, args] = process.platform === 'win32' ? [process.execPath, ['-e', SCRIPT]] : ['sh', ['-c', SHELL]]
    const watchdog: ChildProcess = spawn(
      command,
      [...args, `yield-sandbox: watchdog of process ${process.pid}, for its Anvils`],
      {
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true, // outside the terminal's process group, so that Ctrl-C does not end it before us
        windowsHide: true,
        cwd: '/',
      },
    )
    const forget = () => {
      if (this.#watchdog === watchdog) this.#watchdog = undefined
    }
    watchdog.once('exit', forget)
    watchdog.on('error', (error) => {
      forget()
      onFailure(error)
    })
    watchdog.unref()
    const { stdin } = watchdog // none if too many files are open
    if (stdin && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
    stdin?.on('error', () => {}) // it may have ended
    this.#watchdog = watchdog
    for (const [place, { directory, pid }] of this.#guarded) {
      this.#send('dir', place, escaped(directory))
      this.#send('pid', place, pid)
    }
  }
}

/** The only one: what it guards against is the death of this process, whatever sandbox an Anvil belongs to. */
export const orphanGuard = new OrphanGuard()
