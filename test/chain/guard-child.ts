// Guards directories and a sleeping process in each. Arguments: a platform, a directory to keep, the directories to guard. Prints the ids of
// a process that is to outlive all and of the others. Guards the last directory when it gets a line, and prints the id of its process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { orphanGuard } from '../../src/chain/node/orphan-guard.ts'

const [platform, precious = '', ...directories] = process.argv.slice(2)
Object.defineProperty(process, 'platform', { value: platform })

const sleeper = () => spawn('sleep', ['600'], { stdio: 'ignore', detached: true }).pid ?? 0
const outliving = sleeper()
process.env.pid2 = String(outliving) // names of variables of the shell
process.env.dir2 = precious

/** As an Anvil that listens at its second attempt: the id of the first process may be another one's by then. */
function guarded(directory: string): number {
  const guard = orphanGuard.guard(directory, (error) => console.error(error))
  mkdirSync(directory)
  guard.watch(outliving)
  guard.watch(undefined)
  const pid = sleeper()
  guard.watch(pid)
  return pid
}

const stopped = ['one', 'other'].map((name) =>
  orphanGuard.guard(`${precious}/${name}`, (error) => console.error(error)),
)
const last = directories.pop() ?? ''
const pids = directories.map(guarded)
for (const guard of [...stopped, ...stopped]) guard.callOff() // the second time as after a stop that is repeated
console.log(outliving, ...pids)
await once(process.stdin, 'data')
console.log(guarded(last))
