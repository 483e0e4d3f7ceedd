import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { run } from './command.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-cli-'))
})
afterAll(() => rm(directory, { recursive: true }))

describe('an option that cannot be used ends the start with code 2 and says which', () => {
  test.each([
    [['--port', 'abc'], /--port.*abc.*whole number/i],
    [['--port', '70000'], /--port.*70000.*whole number from 0 to 65535/],
    [['--port'], /--port.*argument missing/],
    [['--seed', 'x'], /--seed.*x.*whole number/i],
    [['--seed', '99999999999999999999'], /seed/],
    [['--confirmation-delay', 'soon'], /--confirmation-delay.*"soon" is not a duration.*2s/],
    [['--confirmation-delay', '30s-5s'], /--confirmation-delay.*"30s-5s" ends before it begins/],
    [['--log-level', 'loud'], /--log-level.*loud.*debug/],
    [['--prot', '1'], /unknown option '--prot'/],
    [['strat'], /unknown command "strat": did you mean "start"\?/],
    [['launch'], /unknown command "launch": use one of start, .*stop/],
    [['faults', 'lst'], /unknown command 'lst'/],
    [['start', 'now'], /too many arguments/],
    [['status', '--url', 'ftp://127.0.0.1'], /--url.*ftp.*must be a URL such as http/],
    [['status', '--url', 'http://'], /--url.*must be a URL such as http/],
    [['wait', '--timeout', 'soon'], /--timeout.*"soon" is not a duration/],
    [['user-token'], /missing required argument 'external_id'/],
  ])('%j', async (args, line) => {
    expectClear(await runHere(args, { YIELD_SANDBOX_QUIET: '1' }), { code: 2, line })
  })

  test('as a process of its own too', async () => {
    expectClear(await run(['--prot', '1']), { code: 2, line: /unknown option '--prot'/ })
  })

  test('from the environment too', async () => {
    const ended = await runHere([], { YIELD_SANDBOX_PORT: 'abc' })
    expectClear(ended, { code: 2, line: /--port.*abc.*YIELD_SANDBOX_PORT.*whole number/i })
    const unclear = await runHere([], { YIELD_SANDBOX_JSON: 'yes', YIELD_SANDBOX_PORT: '0' })
    expectClear(unclear, { code: 2, line: /YIELD_SANDBOX_JSON must be true, false, 1 or 0; got "yes"/ })
    const env = { YIELD_SANDBOX_CONFIRMATION_DELAY: 'soon', YIELD_SANDBOX_PORT: '0' }
    expectClear(await runHere([], env), { code: 2, line: /YIELD_SANDBOX_CONFIRMATION_DELAY.*"soon" is not a duration/ })
  })
})

describe('a fixture file that cannot be used ends the start with code 2, and names file and line', () => {
  const start = (file: string) => runHere(['--port', '0', '--quiet', '--fixtures', file])
  const written = async (name: string, text: string) => {
    const file = join(directory, name)
    await writeFile(file, text)
    return file
  }

  test('one that is not there', async () => {
    expectClear(await start('nowhere.yaml'), { code: 2, line: /nowhere\.yaml/ })
    expectClear(await start(directory), { code: 2, line: new RegExp(directory) })
  })

  test('one that is no YAML', async () => {
    const file = await written('broken.yaml', 'pools:\n  - id: "aave\ntenants: [\n')
    expectClear(await start(file), { code: 2, line: /broken\.yaml:[234]/ })
  })

  test('one with a field nobody knows', async () => {
    const file = await written('unknown.yaml', '# nothing here\noptions:\n  prot: 1\n')
    const { code, stderr } = await start(file)
    expect(code).toBe(2)
    expect(stderr).toMatch(/unknown\.yaml:3.*prot/)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('and fixtures validate says the same', async () => {
    const file = await written('other.yaml', 'tenants: 7\n')
    const { code, stderr, stdout } = await runHere(['fixtures', 'validate', file])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/other\.yaml:1.*tenants/)
    const sound = await runHere(['fixtures', 'validate', 'fixtures/default.yaml'])
    expect(sound).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/default\.yaml.*3 tenants/) })
  })
})

describe('a machine on which it cannot start ends it with code 1 and what to do', () => {
  let taken: Server
  beforeAll(async () => {
    taken = createServer((socket) => socket.resume())
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => taken.close())

  test('a port that is taken', async () => {
    const { port } = taken.address() as { port: number }
    const line = new RegExp(`port ${port} on 127\\.0\\.0\\.1 is taken.*--port`)
    expectClear(await run(['--port', String(port)]), { code: 1, line })
  })

  test('a host that is not of this machine', async () => {
    expectClear(await run(['--port', '0', '--host', '192.0.2.1']), { code: 1, line: /no such address.*--host/ })
  })

  test('no sandbox to talk to', async () => {
    const { port } = taken.address() as { port: number }
    await new Promise((resolve) => taken.close(resolve))
    const url = `http://127.0.0.1:${port}`
    for (const args of [['token'], ['user-token', 'alice'], ['status'], ['stop'], ['wait', '--timeout', '100ms']]) {
      const line = new RegExp(`no sandbox answers at ${url}.*--url`)
      expectClear(await runHere([...args, '--url', url]), { code: 1, line })
    }
  })
})

describe('fixtures init', () => {
  test('gives a file that is sound, with all it needs, and overwrites nothing', async () => {
    const folder = join(directory, 'fixtures')
    const file = join(folder, 'sandbox.yaml')
    const made = await runHere(['fixtures', 'init', folder])
    expect(made).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(`--fixtures ${file}`) })
    expect((await readdir(folder)).toSorted()).toEqual(['demo-keys', 'sandbox.yaml', 'schema.json'])
    expect(await runHere(['fixtures', 'validate', file])).toMatchObject({ code: 0, stderr: '' })
    await writeFile(file, 'changed')
    expectClear(await runHere(['fixtures', 'init', folder]), { code: 2, line: /sandbox\.yaml is there already/ })
    expect(await readFile(file, 'utf8')).toBe('changed')
  })

  test('gives the file of a profile, and names the profiles there are', async () => {
    const folder = join(directory, 'live')
    const file = join(folder, 'sandbox.yaml')
    expect(await runHere(['fixtures', 'init', folder, '--profile', 'live-like'])).toMatchObject({ code: 0, stderr: '' })
    expect(parse(await readFile(file, 'utf8'))).toMatchObject({ service: { profile: 'live-like' } })
    expect(await runHere(['fixtures', 'validate', file])).toMatchObject({ code: 0, stderr: '' })
    for (const name of ['livelike', '', 'toString', 'live-like.yaml']) {
      const ended = await runHere(['fixtures', 'init', join(directory, 'none'), '--profile', name])
      expectClear(ended, { code: 2, line: /--profile.*(Use one of specification, live-like|Did you mean "live-like")/ })
    }
    expect(existsSync(join(directory, 'none'))).toBe(false)
  })

  test('says in one line where it cannot', async () => {
    const ended = await runHere(['fixtures', 'init', '/proc/yield-sandbox'])
    expectClear(ended, {
      code: 2,
      line: /\/proc\/yield-sandbox cannot be written \(E\w+: .*\); name another directory/,
    })
  })
})

describe('help and version', () => {
  test('go to stdout with code 0', async () => {
    for (const args of [['--help'], ['start', '--help'], ['token', '--help'], ['fixtures', '--help']]) {
      expect(await runHere(args)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Usage:') })
    }
    expect((await runHere(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('start names every environment variable', async () => {
    const { stdout } = await runHere(['start', '--help'])
    for (const flag of stdout.match(/--[a-z-]+/g) ?? []) {
      if (['--help', '--version'].includes(flag)) continue
      expect(stdout).toContain(`YIELD_SANDBOX_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`)
    }
  })
})
