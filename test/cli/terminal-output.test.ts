import { afterEach, describe, expect, test, vi } from 'vitest'
import { sayFirstWords } from '../../src/cli/first-words.ts'
import { openerOf } from '../../src/cli/open-in-browser.ts'
import { readableLine } from '../../src/cli/readable-line.ts'
import { wantsColour } from '../../src/cli/screen-of.ts'
import { runHere } from './in-process.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Makes a stream of this process a terminal meanwhile. */
async function onTerminal<T>(stream: NodeJS.WriteStream, work: () => T | Promise<T>): Promise<T> {
  const before = { isTTY: stream.isTTY, columns: stream.columns }
  Object.assign(stream, { isTTY: true, columns: 80 })
  try {
    return await work()
  } finally {
    Object.assign(stream, before)
  }
}

test('lists have headings and columns on a terminal, and tabs elsewhere', async () => {
  const plain = await runHere(['faults', 'kinds'])
  expect(plain.stdout).toMatch(/^drop_connection\tduring_response,/m)
  expect(plain.stdout).not.toContain('parameters\n')
  const { stdout } = await onTerminal(process.stdout, () => runHere(['faults', 'kinds'], { NO_COLOR: '1' }))
  expect(stdout).toMatch(/^kind +phases +parameters\n/)
  expect(stdout).toMatch(/^drop_connection +during_response,/m)
  expect(stdout).not.toContain('\t')
  const coloured = await onTerminal(process.stdout, () => runHere(['findings'], { TERM: 'xterm' }))
  const [first = ''] = coloured.stdout.split('\n')
  expect(first).toMatch(/finding +impact +right/)
  expect([first.slice(0, 4), first.slice(-4)]).toEqual(['\u001b[1m', '\u001b[0m'])
})

test.each([
  [true, {}, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [false, {}, false],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [false, { FORCE_COLOR: '', NO_COLOR: '1' }, true],
])('colours on a terminal (%s) with %j: %s', (isTTY, env: Record<string, string>, wanted) => {
  for (const name of ['NO_COLOR', 'FORCE_COLOR']) vi.stubEnv(name, undefined)
  vi.stubEnv('TERM', 'xterm')
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  expect(wantsColour({ isTTY })).toBe(wanted)
})

describe('a request in the log', () => {
  const fields = { level: 30, time: Date.UTC(2030, 0, 1, 12), msg: 'request', method: 'POST', path: '/v1/x', ms: 41 }
  const line = (more: object, colour = false, several = false) =>
    readableLine(JSON.stringify({ ...fields, ...more }), { width: 100, colour, several })

  test('is in columns: time, method, path, status, milliseconds, then what struck it', () => {
    const good = line({ status: 200, ended: 'answered', operation: 'deposit', request_id: 'req_1' })
    expect(good).toMatch(/^12:00:00\.000 POST {3}\/v1\/x {56}200 {4}41 ms operation=deposit req_1\n$/)
    const struck = { fault: 'fault-1', fault_explanation: 'drop_connection at after_broadcast: It is reset.' }
    const bad = line({ status: 200, ended: 'reset', ...struck })
    expect(bad).toMatch(/ 200 {4}41 ms reset fault-1 drop_connection at after_broadcast: It is reset\.\n$/)
    expect(line({ path: '/v1/longer', status: 200 }).indexOf('200')).toBe(good.indexOf('200'))
  })

  test('has the colour of its status, and no other character that a terminal obeys', () => {
    expect(line({ status: 200, ended: 'answered' }, true)).toContain('\u001b[32m200')
    expect(line({ status: 503, code: 'chain_unavailable', ended: 'answered' }, true)).toContain('\u001b[31m503')
    expect(line({ path: '/\u001b[2J', status: 404 })).toContain('/\\u001b[2J')
  })
})

describe('the first words', () => {
  const said = (args: string[], terminal = true) => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    vi.stubEnv('CI', '')
    vi.stubEnv('TERM', 'xterm')
    const words = () => sayFirstWords(['node', 'yield-sandbox', ...args])
    return onTerminalIf(terminal, words).then((shown) => [shown, write.mock.calls.join('')])
  }
  const onTerminalIf = <T>(terminal: boolean, work: () => T) =>
    terminal ? onTerminal(process.stderr, work) : Promise.resolve(work())

  test.each([
    [[], 'starts a sandbox …'],
    [['--port', '0'], 'starts a sandbox …'],
    [['exec', '--', 'npm', 'test', '--help'], 'starts a sandbox for your command …'],
  ])('of %j come at once, on a terminal alone', async (args, words) => {
    expect(await said(args)).toEqual([true, `\r\u001b[Kyield-sandbox: ${words}`])
    vi.restoreAllMocks()
    expect(await said(args, false)).toEqual([false, ''])
  })

  test.each([[['--version']], [['exec', '--help']], [['findings']]])('%j has none', async (args) => {
    expect(await said(args)).toEqual([false, ''])
  })
})

test.each([
  ['linux', {}, undefined],
  ['linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['linux', { BROWSER: 'firefox' }, 'firefox'],
  ['darwin', {}, 'open'],
  ['darwin', { BROWSER: 'none' }, undefined],
  ['win32', {}, 'rundll32'],
])('on %s with %j an address is opened by %s', (platform, env, file) => {
  expect(openerOf(platform, env)?.file).toBe(file)
})
