import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { anvilsOf } from '../helpers/anvils.ts'
import { cameTo, ENV, exploring } from './exploring.ts'

const SUITE = fileURLToPath(new URL('suite.mjs', import.meta.url))
/** Every Anvil of the exploration is killed as soon as the suite is over: the money can be read only when another one is there. */
const KILLED = `"$0" "$1" && for pid in $(pgrep -P ${process.pid} -x anvil); do
  case " $OTHERS " in *" $pid "*) ;; *) kill -9 $pid ;; esac
done`

test('a chain that is lost before the money is read is waited for', async () => {
  const command = ['sh', '-c', KILLED, process.execPath, SUITE]
  const exploration = await exploring(command, {
    kinds: ['reset-after-broadcast'],
    operations: ['deposit'],
    maxRuns: 2,
    jobs: 1,
    env: { ...ENV, OTHERS: anvilsOf(process.pid).join(' ') },
  })
  expect(cameTo(exploration, 'survived')).toHaveLength(2)
})
