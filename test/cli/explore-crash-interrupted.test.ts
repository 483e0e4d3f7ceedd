import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WORKER } from '../explore/crash/crash-folder.ts'
import { eventually } from '../helpers/eventually.ts'
import { InterruptedCrash } from './interrupted-crash.ts'

const crash = new InterruptedCrash()

// At more moments: explore-crash-interrupted.long.test.ts.
describe('Ctrl-C leaves nothing running', () => {
  test('of a worker that was started again', () => crash.interruptAfter(5, crash.explore([])))

  test('of a server and the command that drives it', () => crash.interruptAfter(2, crash.exploreApp()))

  test('of a worker that ignores signals in its recovery, when it comes again', async () => {
    // The unharmed run is one of two commands: only what is started after a kill ignores signals.
    const recover = `AGAIN=ignores exec ${WORKER.join(' ')}`
    const command = crash.explore(['--recover', recover, '--timeout', '5m'])
    const has = (file: string) => eventually(() => expect(existsSync(join(crash.folder.path, file))).toBe(true))
    await has('deaf')
    command.kill('SIGINT')
    await has('ignored')
    await eventually(() => {
      command.kill('SIGINT')
      crash.folder.expectNothingLeft()
    })
    expect((await command.ended).code).toBe(130)
  })
})
