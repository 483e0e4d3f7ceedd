// Guards directories, each with a sleeping process but the first and the last. Arguments: a platform, a directory to keep, the directories to
// guard. Prints the ids of a process that is to outlive all and of the others, and guards the last directory when it gets a line.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { orphanGuard } from '../../src/chain/node/orphan-guard.ts'

const [platform, precious = '', ...directories] = process.argv.slice(2)
Object.defineProperty(process, 'platform', { value: platform })

const sleeper = () => spawn('sleep', ['600'], { stdio: 'ignore', detached: true }).pid ?? 0
const outliving = sleeper()
process.env.pid3 = String(outliving) // names of variables of the shell
process.env.dir3 = precious

function guarded(directory: string) {
  const guard = orphanGuard.guard(directory, (error) => console.error(error))
  mkdirSync(directory, { recursive: true })
  guard.watch(outliving)
  return guard
}

const stopped = ['one', 'two', 'three'].map((name) => guarded(`${precious}/${name}`))
const last = directories.pop() ?? ''
const [first, ...guards] = directories.map(guarded)
const pids = guards.map((guard) => {
  guard.watch(undefined) // as an Anvil whose port is taken: the id of this process can be another one's by then
  const pid = sleeper()
  guard.watch(pid)
  return pid
})
first?.watch(undefined)
for (const guard of stopped) guard.callOff()
console.log(outliving, ...pids)

await once(process.stdin, 'data')
const again = ['one', 'two'].map((name) => guarded(`${precious}/${name}`))
for (const guard of again) guard.callOff()
guarded(last).watch(undefined)
for (const guard of again) guard.callOff() // again, as after a stop that is repeated, when another one has its place
console.log('ready')
