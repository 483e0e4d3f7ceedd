import { describe, test } from 'vitest'
import { InterruptedCrash } from './interrupted-crash.ts'

const crash = new InterruptedCrash()

// A worker, and more moments: explore-crash-interrupted.long.test.ts.
describe('Ctrl-C leaves nothing running', () => {
  test('of a server and the command that drives it', () => crash.interruptAfter(2, crash.exploreApp()))
})
