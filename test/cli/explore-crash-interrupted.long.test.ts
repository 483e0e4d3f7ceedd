import { describe, test } from 'vitest'
import { InterruptedCrash } from './interrupted-crash.ts'

const crash = new InterruptedCrash()

// The worker is started three times without a kill, then twice for each kill; the server and its command are five starts, then three.
describe('Ctrl-C leaves nothing running', () => {
  test.each([1, 3, 4, 6])('at start %i of a worker', (starts) => crash.interruptAfter(starts, crash.explore([])))

  test.each([1, 5, 6, 7, 8])('at start %i of a server or the command that drives it', (starts) =>
    crash.interruptAfter(starts, crash.exploreApp()),
  )

  test('while a server is awaited that is never ready', () => crash.interruptAfter(1, crash.exploreApp('false')))
})
