import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expectClear } from './expect-clear.ts'
import { ExploredClient } from './explore-clients.ts'
import { runHere } from './in-process.ts'

let client: ExploredClient
beforeEach(() => {
  client = new ExploredClient()
})
afterEach(() => client[Symbol.dispose]())

// What explore prints for a trial does it again, and leaves the results as they are: explore-trial.long.test.ts, and for a double payment explore.long.test.ts.
describe('explore --trial', () => {
  test('says in one sentence what there is instead of a trial that is unknown', async () => {
    const trial = ['--trial', 'deposit#1@alice reset-after-brodcast']
    const ended = await runHere(['explore', ...trial, '--', ...client.command], client.env)
    const line = /--trial "deposit#1@alice reset-after-brodcast": .* did you mean "reset-after-broadcast"\?/
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(line) })
  })

  test.each([['--resume'], ['--depth', '2'], ['--random', '3'], ['--only', 'deposit'], ['--max-runs', '1']])(
    'goes with nothing that chooses among trials: %s %s',
    async (...flags) => {
      const ended = await runHere(['explore', '--trial', 'deposit#1 revert', ...flags.filter(Boolean), '--', 'true'])
      expectClear(ended, { code: 2, line: /'--trial <id>' cannot be used with option '--/ })
    },
  )
})
