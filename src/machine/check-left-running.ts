import { oneLine } from '../support/foreign-text.ts'
import type { MachineCheck } from './machine-check.ts'
import { ownProcesses, type RunningProcess } from './processes.ts'

/** An Anvil of a sandbox: its temporary folder has a name that no other program gives. */
const ANVIL = /\banvil\b.*--cache-path \S*yield-sandbox-anvil-/
/** What starts one: Node, or a program that is built on it. The shell that becomes one names the folder as well. */
const ANCESTOR = /\b(node|bun|deno|electron|yield-sandbox)\b/i
/** A start of the command line. */
const COMMAND_LINE = /\b(?:bin\/yield-sandbox\.js|\.bin\/yield-sandbox)(?: |$)/
/** The processes that take over children whose parent has ended, beside process 1. */
const ADOPTS = /^\S*systemd --user\b/
/** Most characters of a command line. */
const LONGEST = 80

/**
 * Looks for what sandboxes of this user have left running: an Anvil whose sandbox is gone is broken; a sandbox that runs although what
 * started it has ended, as in the background, is worth knowing. One whose starter lives, such as a test run or a shell, ends with it. Nothing
 * is ended. `self` is this process, which does not count.
 */
export async function checkLeftRunning(list = ownProcesses, self = process.pid): Promise<MachineCheck> {
  const id = 'left_running'
  const all = await list()
  if (!all) return { id, state: 'good', detail: 'processes cannot be listed here' }
  const byPid = new Map(all.map((one) => [one.pid, one]))
  const anvils = all.filter(({ command }) => ANVIL.test(command) && !/^(?:\/bin\/)?sh /.test(command))
  const orphans = anvils.filter(({ parent }) => !ANCESTOR.test(byPid.get(parent)?.command ?? ''))
  if (orphans.length > 0) {
    const pids = orphans.map(({ pid }) => pid)
    const what =
      pids.length === 1 ? 'an Anvil runs whose sandbox is gone' : `${pids.length} Anvils run whose sandboxes are gone`
    return { id, state: 'broken', detail: `${what}: ${pids.join(', ')}`, fix: `kill ${pids.join(' ')}` }
  }
  const sandboxes = sandboxesIn(all, anvils, self).filter(({ parent }) => {
    const starter = byPid.get(parent)
    return parent === 1 || starter === undefined || ADOPTS.test(starter.command)
  })
  if (sandboxes.length === 0) return { id, state: 'good', detail: 'nothing' }
  const shown = sandboxes.map(({ pid, command }) => `${pid} (${oneLine(command, LONGEST)})`)
  const fix = `leave it, or end it: kill ${sandboxes.map(({ pid }) => pid).join(' ')}`
  return { id, state: 'note', detail: `sandboxes run, and what started them has ended: ${shown.join(', ')}`, fix }
}

/** Processes that have an Anvil, and starts of the command line, which may have none yet. */
function sandboxesIn(
  all: readonly RunningProcess[],
  anvils: readonly RunningProcess[],
  self: number,
): RunningProcess[] {
  const parents = new Set(anvils.map(({ parent }) => parent))
  return all.filter(({ pid, command }) => pid !== self && (parents.has(pid) || isStart(command)))
}

/** @returns true if the command line starts a sandbox; other commands come and go by themselves */
function isStart(command: string): boolean {
  const found = COMMAND_LINE.exec(command)
  if (!found || !/^\S*node\S* /.test(command)) return false
  const [word = 'start'] = command
    .slice(found.index + found[0].length)
    .trim()
    .split(' ')
  return word === '' || word === 'start' || word.startsWith('-')
}
