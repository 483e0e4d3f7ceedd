import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Credentials, SandboxHandle } from '../../src/index.ts'
import { partnerAt, testSandbox } from '../helpers/partner.ts'
import { Command, ROOT, run } from './command.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

let sandbox: SandboxHandle
let directory: string

beforeAll(async () => {
  sandbox = await testSandbox({ maxNamespaces: 3 })
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-namespaces-'))
})
afterAll(async () => {
  await sandbox.stop()
  await rm(directory, { recursive: true })
})
afterEach(async () => {
  const [, ...others] = await sandbox.namespaces.list()
  for (const { name } of others) await sandbox.namespaces.delete(name)
})

const at = (args: string[], env: Record<string, string> = {}) =>
  runHere(args, { YIELD_SANDBOX_URL: sandbox.baseUrl, ...env })

/** Standard output of a command that must have succeeded. */
async function out(args: string[], env?: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await at(args, env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

const create = async (...args: string[]): Promise<Credentials> =>
  JSON.parse(await out(['namespaces', 'create', '--json', ...args]))

describe('namespaces', () => {
  test('are created, listed and deleted', async () => {
    const rows = (await out(['namespaces', 'create', 'pull-request-7'])).split('\n').map((line) => line.split('\t'))
    const mine = JSON.parse(await out(['namespaces', 'list', '--json']))[1]
    expect(mine).toMatchObject({ name: 'pull-request-7', ready: true, tenants: ['acme', 'globex', 'restricted'] })
    expect(rows).toEqual(
      expect.arrayContaining([
        ['namespace', 'pull-request-7'],
        ['base_url', sandbox.baseUrl],
        ['auth_url', sandbox.authUrl],
        ['rpc_url', `${sandbox.baseUrl}/rpc/pull-request-7/31337`, '31337'],
        ['client_id', expect.any(String), 'acme'],
        ['client_secret', expect.any(String), 'acme'],
        ['end_users', 'bob', 'globex'],
      ]),
    )
    const listed = (await out(['namespaces', 'list'])).split('\n').map((line) => line.split('\t'))
    expect(listed[1]).toEqual(['pull-request-7', 'ready', '7', mine.created_at, 'acme,globex,restricted'])
    expect(await out(['namespaces', 'delete', 'pull-request-7'])).toBe('deleted\n')
    expect(await sandbox.namespaces.list()).toHaveLength(1)
  })

  test('what --json prints is enough to connect', async () => {
    const credentials = await create()
    expect((await partnerAt(credentials).get('pools')).status).toBe(200)
    expect(credentials.tenants[0]?.client_id).not.toBe(sandbox.tenants[0]?.client_id)
  })

  test('take seed, clock, delay and a fixture file, YAML or JSON; a copy takes what there is', async () => {
    const yaml = join(directory, 'only-globex.yaml')
    const key = 'key: { kid: globex-1, private_key_file: demo-keys/globex.pem }'
    const ids = 'tenant_id: 0a1c3e5a-7b9d-4f10-8a2b-4c6d8e0f1a02, client_id: 5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e02'
    const tenant = `slug: globex, ${ids}, client_secret: secret, issuer: https://globex.example, ${key}, access: all`
    await writeFile(yaml, `tenants:\n  - { ${tenant}, end_users: [{ external_id: dora }] }\n`)
    const clock = '2030-01-01T00:00:00.000Z'
    const wish = ['--seed', '9', '--clock', clock, '--confirmation-delay', '0', '--fixtures', yaml]
    expect(await create('first', ...wish)).toMatchObject({
      seed: 9,
      tenants: [{ slug: 'globex', end_users: ['dora'] }],
    })
    await out(['clock', '--advance', '1d', '--namespace', 'first'])
    expect(await create('second', '--from', 'first')).toMatchObject({ seed: 9, tenants: [{ slug: 'globex' }] })
    expect(await out(['clock', '--namespace', 'second'])).toMatch(/^2030-01-02T00:00:00\.000Z\tfrozen\t/)
    const json = join(directory, 'no-money.json')
    await writeFile(json, JSON.stringify({ pools: [{ id: 'only', protocol: 'aave', token: 'USDC' }] }))
    expectClear(await at(['namespaces', 'create', '--fixtures', json]), {
      code: 2,
      line: /fixtures\.tenants\[0\]\.end_users\[0\]\.portfolios\[0\]\.pool: .*aave-usdc/,
    })
  })

  test('the shipped fixture file is one that can be given', async () => {
    expect(await create('--fixtures', join(ROOT, 'fixtures/default.yaml'))).toMatchObject({ seed: 7 })
  })
})

describe('--namespace', () => {
  test('chooses it, for every command that is about one; the others see nothing of it', async () => {
    await create('mine', '--clock', '2030-01-01T00:00:00Z')
    const mine = ['--namespace', 'mine']
    await out(['faults', 'add', 'revert', ...mine])
    expect(await out(['faults', 'list', ...mine])).toMatch(/^fault-1\trevert/)
    expect(await out(['faults', 'list'])).toBe('')
    await out(['scenario', 'run', 'dropped-deposit', ...mine])
    expect(await out(['scenario', 'list'])).not.toContain('running')
    expect(await out(['clock', ...mine])).toMatch(/^2030-.*\tfrozen/)
    expect(await out(['clock'])).toMatch(/\trunning\t/)
    expect(await out(['reset', ...mine])).toBe('ready\n')
    expect(await out(['faults', 'list', ...mine])).toBe('')
    expect(await out(['wait', ...mine])).toBe('ready\n')
    expect(await out(['status', ...mine])).toMatch(/^ready\t/)
    const claims = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
    const { tenants } = sandbox
    expect(claims(await out(['token'])).appid).toBe(tenants[0]!.client_id)
    expect(claims(await out(['token', ...mine])).appid).not.toBe(tenants[0]!.client_id)
    expect(claims(await out(['user-token', 'alice', ...mine])).sub).toBe('alice')
  })

  test('comes from the environment as well, where empty is unset', async () => {
    await create('mine', '--clock', '2030-01-01T00:00:00Z')
    expect(await out(['clock'], { YIELD_SANDBOX_NAMESPACE: 'mine' })).toMatch(/^2030-/)
    expect(await out(['clock'], { YIELD_SANDBOX_NAMESPACE: '' })).toMatch(/\trunning\t/)
    expect(await out(['clock', '--namespace', 'default'], { YIELD_SANDBOX_NAMESPACE: 'mine' })).toMatch(/\trunning\t/)
  })

  test('is none of those about the whole sandbox', async () => {
    for (const args of [['stop'], ['namespaces', 'list'], ['namespaces', 'create'], ['namespaces', 'delete', 'mine']]) {
      expectClear(await at([...args, '--namespace', 'mine']), { code: 2, line: /unknown option '--namespace'/ })
    }
  })
})

describe('what cannot be is said in one clear line', () => {
  test.each([
    [['clock', '--namespace', 'winner'], 2, /no namespace "winner"; did you mean "winter"\?/],
    [['status', '--namespace', 'winner'], 2, /no namespace "winner"; did you mean "winter"\?/],
    [['wait', '--namespace', 'winner', '--timeout', '0'], 1, /not ready in time: .*did you mean "winter"\?/],
    [['reset', '--namespace', '..'], 2, /no namespace "\.\."; names are of a-z, 0-9 and -/],
    [['reset', '--namespace', 'a/b'], 2, /no namespace "a\/b"/],
    [['namespaces', 'delete', 'winner'], 2, /no namespace "winner"; did you mean "winter"\?/],
    [['namespaces', 'delete', ''], 2, /no namespace ""/],
    [['namespaces', 'delete', 'default'], 2, /default namespace cannot be deleted/],
    [['namespaces', 'delete'], 2, /missing required argument 'name'/],
    [['namespaces', 'create', 'winter'], 1, /There is a namespace "winter" already/],
    [['namespaces', 'create', 'Mine'], 2, /name: .*"Mine"; write it like "pull-request-7"/],
    [['namespaces', 'create', '--from', 'winner'], 2, /did you mean "winter"\?/],
    [['namespaces', 'create', '--seed', 'x'], 2, /--seed.*whole number/],
    [['namespaces', 'create', '--seed', '9999999999'], 2, /seed: .*4294967295/],
    [['namespaces', 'create', '--clock', 'yesterday'], 2, /clock must be an ISO 8601 moment.*yesterday/],
    [['namespaces', 'create', '--confirmation-delay', 'soon'], 2, /"soon" is not a duration/],
    [['namespaces', 'create', '--fixtures', 'nope.yaml'], 2, /nope\.yaml: no such file/],
  ])('%j', async (args, code, line) => {
    await create('winter')
    expectClear(await at(args), { code, line })
    expect(await sandbox.namespaces.list()).toHaveLength(2)
  })

  test('a fixture file that is none', async () => {
    const file = join(directory, 'list.yaml')
    await writeFile(file, '- pools\n')
    const ended = await at(['namespaces', 'create', '--fixtures', file])
    expectClear(ended, { code: 2, line: /list\.yaml:1:1: must be a mapping/ })
    await writeFile(file, 'pools: [\n')
    expectClear(await at(['namespaces', 'create', '--fixtures', file]), { code: 2, line: /list\.yaml:/ })
  })

  test('one more than there may be', async () => {
    for (const name of ['a', 'b', 'c']) await create(name)
    const ended = await at(['namespaces', 'create'])
    expectClear(ended, { code: 1, line: /There are 3 namespaces .*; delete some, or start with a larger --max-namesp/ })
  })
})

test.each([['list'], ['create'], ['delete']])('namespaces %s --help shows examples and --url', async (name) => {
  const { code, stdout } = await runHere(['namespaces', name, '--help'])
  expect(code).toBe(0)
  for (const part of [`\n  yield-sandbox namespaces ${name}`, '--url <url>', '--control-token <t>', '--json']) {
    expect(stdout).toContain(part)
  }
})

describe('start', () => {
  test('takes how many there may be, of Anvils too, and how long one may be idle', async () => {
    const command = new Command(['--port', '0', '--json', '--quiet', '--max-namespaces', '1', '--max-nodes', '1'], {
      env: { YIELD_SANDBOX_NAMESPACE_IDLE: '1h', YIELD_SANDBOX_MAX_NAMESPACES: '5' },
    })
    const { base_url } = await command.credentials()
    expect((await run(['namespaces', 'create', '--url', base_url])).code).toBe(0)
    expect((await run(['namespaces', 'create', '--url', base_url])).stderr).toMatch(/There are 1 namespaces/)
    const deaf = await run(['clock', '--advance', '1d', '--json', '--namespace', 'namespace-1', '--url', base_url])
    expect(JSON.parse(deaf.stdout).chains, 'the only Anvil is that of default').toMatchObject({ ok: false })
    command.kill('SIGTERM')
    expect((await command.ended).code).toBe(0)
  })

  test.each([
    [['--max-namespaces', 'many'], /--max-namespaces.*many.*whole number/],
    [['--max-nodes', '-1'], /--max-nodes.*-1.*whole number/],
    [['--namespace-idle', 'soon'], /--namespace-idle.*"soon" is not a duration/],
  ])('%j is refused', async (args, line) => {
    expectClear(await runHere([...args, '--port', '0', '--quiet']), { code: 2, line })
  })
})

test('docs/commands.md has every command', async () => {
  const page = await readFile(join(ROOT, 'docs/commands.md'), 'utf8')
  const { stdout } = await runHere(['--help'])
  const names = [...stdout.matchAll(/^ {2}([a-z-]+) .*\S/gm)].map(([, name]) => name).filter((name) => name !== 'help')
  expect(names).toContain('namespaces')
  for (const name of names) expect(page).toMatch(new RegExp(`^\\| .*\`${name}[ \`]`, 'm'))
})
