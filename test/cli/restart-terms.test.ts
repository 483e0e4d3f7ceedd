import { describe, expect, test } from 'vitest'
import { restartTerms } from '../../src/cli/restart-terms.ts'
import { OptionError } from '../../src/option-error.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

const NONE = { faults: [], restarts: 0 }
const URL_OF_ITS_OWN = 'http://127.0.0.1:$YIELD_APP_PORT/health'

test('the command is killed with --crash, and where a trial or --faults names a kill', () => {
  expect(restartTerms(NONE)).toBeUndefined()
  expect(restartTerms({ ...NONE, trial: 'deposit#1@alice revert' })).toBeUndefined()
  const terms = { recover: undefined, kill: undefined, restarts: 3, app: undefined }
  expect(restartTerms({ ...NONE, crash: true })).toEqual(terms)
  expect(restartTerms({ ...NONE, faults: ['killed-on-request'], restarts: 1 })).toEqual({ ...terms, restarts: 1 })
  expect(restartTerms({ ...NONE, trial: 'deposit#1@alice killed-under-way' })).toEqual(terms)
})

test('a server has a minute to be ready, or what --timeout says', () => {
  const given = { ...NONE, crash: true, app: 'node server.js', ready: URL_OF_ITS_OWN }
  expect(restartTerms(given)?.app).toMatchObject({ readyWithin: 60_000, until: undefined })
  expect(restartTerms({ ...given, timeout: 5_000, until: 'true' })?.app).toMatchObject({
    readyWithin: 5_000,
    until: 'true',
  })
})

test('says that Windows has no process groups, where something is to be killed', () => {
  expect(() => restartTerms({ ...NONE, crash: true }, 'win32')).toThrow(/cannot work on Windows.*run it in WSL/)
  expect(() => restartTerms({ ...NONE, crash: true }, 'win32')).toThrow(OptionError)
  expect(restartTerms(NONE, 'win32')).toBeUndefined()
})

describe('refuses in one sentence', () => {
  const APP = ['--crash', '--app', 'node server.js']
  test.each([
    ['--recover without a kill', ['--recover', 'true'], /--recover has a meaning only where .*give --crash as well/],
    ['--kill without a kill', ['--kill', 'true'], /--kill has a meaning only where .*give --crash as well/],
    ['--app without a kill', ['--app', 'true'], /--app has a meaning only where .*give --crash as well/],
    ['--ready without a kill', ['--ready', 'true'], /--ready has a meaning only where .*give --crash as well/],
    ['--until without a kill', ['--until', 'true'], /--until has a meaning only where .*give --crash as well/],
    [
      '--recover with a trial that kills nothing',
      ['--recover', 'true', '--trial', 'deposit#1 killed-after-broadcast'],
      /give a --trial that does it, such as killed-on-request/,
    ],
    ['--ready without a server', ['--crash', '--ready', 'true'], /--ready .* only with a server: give --app/],
    ['--until without a server', ['--crash', '--until', 'true'], /--until .* only with a server: give --app/],
    ['a server without --ready', APP, /--app needs --ready <url or command>/],
    ['a server and --recover', [...APP, '--recover', 'true'], /--recover does not go with --app/],
    [
      'a URL whose port the shell has taken away',
      [...APP, '--ready', 'http://127.0.0.1:/health'],
      /not a URL with a port; in single quotes/,
    ],
    [
      'one URL for several servers at once',
      [...APP, '--ready', 'http://127.0.0.1:3000/', '--jobs', '2'],
      /the same for all servers.*\$YIELD_APP_PORT.*--jobs 1/,
    ],
    ['an empty command', ['--crash', '--app', ''], /--app.* must not be empty/],
  ])('%s', async (_, flags, line) => {
    expectClear(await runHere(['explore', '--no-join', ...flags, '--', 'true']), { code: 2, line })
  })
})
