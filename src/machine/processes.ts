import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

/** A running process of this user. */
export interface RunningProcess {
  pid: number
  parent: number
  /** The command line, words separated by a space. */
  command: string
}

/** The processes of this user; undefined where the system does not list them (Windows). */
export async function ownProcesses(): Promise<RunningProcess[] | undefined> {
  if (process.platform === 'linux') return ofProc()
  return process.platform === 'win32' ? undefined : ofPs()
}

async function ofProc(): Promise<RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(pids.map(readProcess))
  return found.filter((one) => one !== undefined)
}

async function readProcess(pid: string): Promise<RunningProcess | undefined> {
  try {
    const { uid } = await stat(`/proc/${pid}`)
    if (uid !== process.getuid?.()) return undefined
    const [words, state] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ])
    const [, parent = '0'] = /\) \S (\d+)/.exec(state) ?? []
    return { pid: Number(pid), parent: Number(parent), command: words.replaceAll('\0', ' ').trim() }
  } catch {
    return undefined // it ended meanwhile
  }
}

async function ofPs(): Promise<RunningProcess[] | undefined> {
  try {
    const user = String(process.getuid?.() ?? '')
    const { stdout } = await promisify(execFile)('ps', ['-U', user, '-o', 'pid=,ppid=,args='], { maxBuffer: 1 << 24 })
    return stdout.split('\n').flatMap((line) => {
      const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
      return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
    })
  } catch {
    return undefined
  }
}
