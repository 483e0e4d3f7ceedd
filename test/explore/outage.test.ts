import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { cameTo, ENV, exploring } from './exploring.ts'

const SUITE = fileURLToPath(new URL('suite.mjs', import.meta.url))
/** Every Anvil of this process is killed as soon as the suite is over: the money can be read only when another one is there. */
const KILLED = `"$0" "$1" && pkill -9 -P ${process.pid} -x anvil`

test('a chain that is lost before the money is read is waited for', async () => {
  const command = ['sh', '-c', KILLED, process.execPath, SUITE]
  const exploration = await exploring(command, {
    kinds: ['reset-after-broadcast'],
    operations: ['deposit'],
    maxRuns: 2,
    jobs: 1,
    env: ENV,
  })
  expect(cameTo(exploration, 'survived')).toHaveLength(2)
})
