import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anvilsOf } from '../helpers/anvils.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner } from '../helpers/partner.ts'
import { answers, type Command, ROOT, run } from './command.ts'
import { commandStarter } from './command-starter.ts'
import { runHere } from './in-process.ts'

/** Milliseconds, on a busy machine: what holds an end up (an idle connection, a confirmation) lasts longer. */
const AT_ONCE = 20_000
const JSON_FLAGS = ['--port', '0', '--json', '--confirmation-delay', '0']

const startCommand = commandStarter()

function start(args: readonly string[], options?: ConstructorParameters<typeof Command>[1]): Command {
  return startCommand(args, options)
}

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-cli-'))
})
afterAll(() => rm(directory, { recursive: true }))

/** Expects a signal to end the command in order, at once, and its Anvil as well. */
async function expectStopped(command: Command, signal: NodeJS.Signals): Promise<void> {
  const [rpc = ''] = Object.values((await command.credentials()).rpc_urls)
  expect(await answers(rpc)).toBe(true)
  const [anvil] = anvilsOf(command.child.pid!)
  const before = performance.now()
  command.kill(signal)
  expect(await command.ended).toMatchObject({ code: 0, signal: null })
  expect(performance.now() - before).toBeLessThan(AT_ONCE)
  expect(await answers(rpc)).toBe(false)
  expect(() => process.kill(anvil!, 0)).toThrow('ESRCH')
}

describe('start --json', () => {
  test('prints one line, the same as GET /_sandbox/credentials, logs JSON lines to stderr, and stops by SIGTERM', async () => {
    const command = start(['start', ...JSON_FLAGS, '--seed', '7', '--log-level', 'debug'])
    const credentials = await command.credentials()
    // A client that keeps its connection open does not hold the end up.
    const response = await fetch(`${credentials.control_url}/credentials`)
    expect(await response.json()).toEqual(credentials)
    expect(credentials.seed).toBe(7)
    await expectStopped(command, 'SIGTERM')
    const { stdout, stderr } = await command.ended
    expect(stdout).toBe(`${JSON.stringify(credentials)}\n`)
    for (const line of stderr.split('\n').filter(Boolean)) expect(JSON.parse(line)).toHaveProperty('level')
  })

  test('SIGINT stops it, and a request that waits for its confirmation does not hold that up', async () => {
    const command = start(['--port', '0', '--json', '--confirmation-delay', '1h'])
    const credentials = await command.credentials()
    const user = await runHere(['user-token', 'carol', '--url', credentials.base_url])
    const handle = {
      baseUrl: credentials.base_url,
      authUrl: credentials.auth_url,
      tenants: credentials.tenants,
      credentials: async () => credentials,
      userToken: async () => user.stdout.trim(),
    }
    const acme = new Partner(handle as unknown as ConstructorParameters<typeof Partner>[0])
    const portfolio = await acme.open('carol')
    const held = acme.deposit('carol', portfolio, '1000').catch((error: Error) => error)
    const [rpc = ''] = Object.values(credentials.rpc_urls)
    const block = async () => (await rpcCall(rpc, 'eth_blockNumber')) as string
    const first = await block()
    await eventually(async () => expect(await block()).not.toBe(first))
    await expectStopped(command, 'SIGINT')
    await held
  })
})

describe('start', () => {
  test('prints where everything is, the inspector first, and lines that work when pasted into a shell', async () => {
    const command = start(['--port', '0', '--seed', '11'], { env: { YIELD_SANDBOX_NO_INSPECTOR: 'false' } })
    const banner = await command.prints(/[\s\S]*Next:[\s\S]*curl -s .*\/v1\/[\s\S]*npm test/)
    for (const what of [
      'Inspector',
      'Base URL',
      'Token URL',
      'Docs',
      'RPC 31337',
      'Seed',
      'Client id',
      'Client secret',
    ]) {
      expect(banner).toMatch(new RegExp(`${what}: +\\S+`))
    }
    const pasted = banner.split('\n').filter((line) => /^(TOKEN=|curl )/.test(line))
    const { stdout } = await promisify(execFile)('sh', ['-c', pasted.join('\n')])
    expect(JSON.parse(stdout).data).toHaveLength(4)
    // The command of the third step is that of every other.
    const [, own = ''] = /^ +(\S.*) exec -- npm test$/m.exec(banner) ?? []
    const env = { ...process.env, YIELD_SANDBOX_URL: /Base URL: +(\S+)/.exec(banner)![1] }
    expect((await promisify(execFile)('sh', ['-c', `${own} requests list`], { env })).stdout).toMatch(
      /GET \/v1\/partner\/pools/,
    )
    const docs = /Docs: +(\S+)/.exec(banner)![1]!
    expect((await fetch(docs)).status).toBe(200)
    const [first = ''] = banner.split('\n').filter((line) => line.includes('http'))
    expect(first).toMatch(/^ {2}Inspector: {5}http:\/\/127\.0\.0\.1:\d+\/$/)
    const page = await fetch(first.split(/\s+/).at(-1)!, { headers: { accept: 'text/html' } })
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test('prints it with a code that is good once, and not with the control token; killed hard, it leaves no Anvil behind', async () => {
    const command = start(['--port', '0', '--control-token', 'correct-horse'])
    const [, address = '', code] = /Inspector: +(\S+#code=(\S+))/.exec(await command.prints(/[\s\S]*Next:/))!
    expect(address).not.toContain('correct-horse')
    const begin = () => {
      const headers = { 'content-type': 'application/json' }
      return fetch(new URL('/_sandbox/sessions', address), { method: 'POST', headers, body: JSON.stringify({ code }) })
    }
    const session = await begin()
    expect([session.status, (await begin()).status]).toEqual([204, 401])
    const cookie = session.headers.get('set-cookie')!.split(';')[0]!
    expect((await fetch(new URL('/_sandbox/clock', address), { headers: { cookie } })).status).toBe(200)
    const [anvil] = anvilsOf(command.child.pid!)
    command.kill('SIGKILL')
    await command.ended
    await eventually(() => expect(() => process.kill(anvil!, 0)).toThrow('ESRCH'))
  })

  test('takes flags before the environment, and that before the fixture file; SIGHUP leaves no temporary files', async () => {
    const fixtures = join(directory, 'seeded.yaml')
    const shipped = join(ROOT, 'fixtures')
    const text = (await readFile(join(shipped, 'default.yaml'), 'utf8')).replaceAll(
      'demo-keys/',
      `${shipped}/demo-keys/`,
    )
    await writeFile(fixtures, `${text}\noptions:\n  seed: 1\n  port: 0\n  log_level: silent\n`)
    const temporary = await mkdtemp(join(directory, 'temporary-'))
    const own = { YIELD_SANDBOX_SEED: '2', YIELD_SANDBOX_LOG_LEVEL: 'info', TMPDIR: temporary }
    const env = { YIELD_SANDBOX_FIXTURES: fixtures, YIELD_SANDBOX_JSON: '1', ...own }
    const command = start(['--seed', '3', '--tls', 'self-signed'], { env })
    expect((await command.credentials()).seed).toBe(3)
    await eventually(() => expect(command.stderr).toContain('"level":30'))
    expect(await readdir(temporary)).toContainEqual(expect.stringContaining('tls'))
    const [anvil] = anvilsOf(command.child.pid!)
    command.kill('SIGHUP')
    expect(await command.ended).toMatchObject({ code: 0, signal: null })
    expect(await readdir(temporary)).toEqual([])
    expect(() => process.kill(anvil!, 0)).toThrow('ESRCH')
  })
})

describe('variables of the environment', () => {
  test('that are empty count as unset, and switches take true, false, 1 and 0', async () => {
    const names = ['HOST', 'FIXTURES', 'SEED', 'CONFIRMATION_DELAY', 'DATA_DIR', 'CLOCK', 'CONTROL_TOKEN', 'LOG_LEVEL']
    const empty = Object.fromEntries([...names, 'FORK_URL'].map((name) => [`YIELD_SANDBOX_${name}`, '']))
    const switches = { YIELD_SANDBOX_JSON: 'true', YIELD_SANDBOX_QUIET: '0', YIELD_SANDBOX_NO_INSPECTOR: '1' }
    const command = start([], { env: { ...empty, YIELD_SANDBOX_PORT: '0', ...switches } })
    const { base_url } = await command.credentials()
    expect(base_url).toMatch(/^http:\/\/127\.0\.0\.1:/)
    const page = await fetch(new URL('/', base_url), { redirect: 'manual', headers: { accept: 'text/html' } })
    expect(page.status).toBe(302) // to the description: there is no inspector
    const env = { YIELD_SANDBOX_JSON: 'false', YIELD_SANDBOX_QUIET: '' }
    const banner = await start(['--port', '0', '--no-inspector'], { env }).prints(/[\s\S]*Next:/)
    expect(banner).toMatch(/Base URL: +http:\/\/127\.0\.0\.1:/)
    expect(banner).not.toContain('Inspector')
  })
})

describe('a running sandbox', () => {
  test('is waited for, shown and ended by commands; its process ends with code 0', async () => {
    const port = String(await freePort())
    const url = `localhost:${port}`
    const waiting = run(['wait', '--url', url])
    const command = start(['--port', port, '--quiet'])
    expect(await waiting).toMatchObject({ code: 0, stdout: 'ready\n', stderr: '' })
    const { code, stdout } = await runHere(['status', '--url', url, '--json'])
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, ready: true, url: `http://${url}` })
    expect((await runHere(['status', '--url', url])).stdout).toMatch(/^ready\t\d+\.\d+\.\d+\t\d+\thttp:/)
    const [anvil] = anvilsOf(command.child.pid!)
    expect(await runHere(['stop', '--url', url])).toMatchObject({ code: 0, stdout: 'stopped\n', stderr: '' })
    expect(await command.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(() => process.kill(anvil!, 0)).toThrow('ESRCH')
    expect(await runHere(['status', '--url', url])).toMatchObject({ code: 1, stdout: '' })
  })

  test('tells a control token it made up in what --json prints, and needs it', async () => {
    const command = start([...JSON_FLAGS, '--host', '0.0.0.0'])
    const { base_url, control_token = '' } = await command.credentials()
    expect(control_token).toMatch(/^[\w-]{32}$/)
    expect(await runHere(['stop', '--url', base_url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('401'),
    })
    const credentials = await fetch(`${base_url}/_sandbox/credentials`, {
      headers: { authorization: `Bearer ${control_token}` },
    })
    expect(await credentials.json()).toMatchObject({ control_token })
    expect(await runHere(['stop', '--url', base_url, '--control-token', control_token])).toMatchObject({ code: 0 })
    expect((await command.ended).code).toBe(0)
  })

  test('is ended while it starts as well', async () => {
    const port = String(await freePort())
    const command = start(['--port', port, '--json'])
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/_sandbox/health`)).ok).toBe(true))
    expect(await runHere(['stop', '--url', `127.0.0.1:${port}`])).toMatchObject({ code: 0 })
    expect((await command.ended).code).toBe(0)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function rpcCall(url: string, method: string): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await response.json()) as { result: unknown }).result
}
