import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WORKER } from '../explore/crash/crash-folder.ts'
import { eventually } from '../helpers/eventually.ts'
import { InterruptedCrash } from './interrupted-crash.ts'

const crash = new InterruptedCrash()

// The worker is started three times without a kill, then twice for each kill; the server and its command are five starts, then three.
describe('Ctrl-C leaves nothing running', () => {
  test.each([1, 3, 4, 5, 6])('at start %i of a worker', (starts) => crash.interruptAfter(starts, crash.explore([])))

  test.each([1, 5, 6, 7, 8])('at start %i of a server or the command that drives it', (starts) =>
    crash.interruptAfter(starts, crash.exploreApp()),
  )

  test('while a server is awaited that is never ready', () => crash.interruptAfter(1, crash.exploreApp('false')))

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
