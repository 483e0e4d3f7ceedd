import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Credentials } from '../../src/control/contract.ts'
import { trustingFetch } from '../../src/control/trusting-fetch.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

type Language = 'curl' | 'typescript' | 'python'

const LANGUAGES: Language[] = ['curl', 'typescript', 'python']
const SECRET = 'only-for-this-test'

let folder: string
let sandbox: SandboxHandle

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'first-request-'))
  sandbox = await testSandbox()
})
afterAll(async () => {
  await sandbox.stop()
  await rm(folder, { recursive: true })
})

async function credentialsAt(handle: SandboxHandle, query: string, token = ''): Promise<Credentials> {
  const { ca_file } = await handle.credentials()
  const ask = ca_file === undefined ? fetch : trustingFetch(await readFile(ca_file, 'utf8'))
  const response = await ask(`${handle.controlUrl}/credentials${query}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Credentials
}

/** The text of a tenant; undefined if it has none. */
async function textOf(handle: SandboxHandle, language: Language, token = ''): Promise<string> {
  const { tenants } = await credentialsAt(handle, '?first_request=1', token)
  return tenants.find(({ slug }) => slug === 'acme')!.first_request![language]
}

/** Runs a text as it is, with nothing in the environment but a path. */
async function run(language: Language, program: string, env: Record<string, string> = {}) {
  const name = join(folder, { curl: 'first.sh', typescript: 'first.mjs', python: 'first.py' }[language])
  await writeFile(name, program)
  const command = { curl: 'sh', typescript: process.execPath, python: 'python3' }[language]
  const child = spawn(command, [name], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { out, error, code }
}

const depositsOf = async (partner: Partner, user: string) =>
  (await partner.get(`end_users/${user}/transactions?limit=100`)).body.data.filter(
    ({ amount_changed }: { amount_changed: string }) => amount_changed === '250000000',
  )

describe.each(LANGUAGES)('the first request by %s', (language) => {
  test.each(['a sandbox', 'a namespace'])(
    'deposits 250 tokens at %s, and again when it is pasted again',
    async (where) => {
      await using made = where === 'a namespace' ? await sandbox.namespaces.create() : undefined
      const handle = made ?? sandbox
      const program = await textOf(handle, language)
      const before = (await depositsOf(new Partner(handle), 'alice')).length
      for (const times of [1, 2]) {
        const { out, error, code } = await run(language, program)
        expect({ error, code }).toEqual({ error: '', code: 0 })
        const deposits = await depositsOf(new Partner(handle), 'alice')
        expect(deposits.length).toBe(before + times)
        expect(out).toContain(deposits[0].tx_hash)
      }
      const { data } = await handle.requests.list({ operation: 'deposit' })
      expect(
        new Set(data.map(({ request }) => request.headers.find(([name]) => /^idempotency-key$/i.test(name))?.[1])).size,
      ).toBe(data.length)
    },
  )

  test('reports the error of the service, and ends with a code other than 0', async () => {
    await using mine = await sandbox.namespaces.create()
    const program = await textOf(mine, language)
    await mine.faults.add({ kind: 'error', match: { operation: 'deposit' }, with: { code: 'rate_limited' } })
    const { out, error, code } = await run(language, program)
    expect(code).toBeGreaterThan(0)
    expect(error).toContain('rate_limited')
    expect(out).not.toContain('tx_hash')
  })

  test('takes the control token from CONTROL_TOKEN, trusts the certificate, and fits a service with other settings', async () => {
    await using guarded = await testSandbox({
      controlToken: SECRET,
      tls: 'self-signed',
      fixtures: 'fixtures/live-like.yaml',
    })
    const program = await textOf(guarded, language, SECRET)
    expect(program).not.toContain(SECRET)
    const { ca_file = '' } = await guarded.credentials()
    const trust = language === 'typescript' ? { NODE_EXTRA_CA_CERTS: ca_file } : {}
    const { error, code } = await run(language, program, { CONTROL_TOKEN: SECRET, ...trust })
    expect({ error, code }).toEqual({ error: '', code: 0 })
    const { data } = await guarded.requests.list({ operation: 'deposit', status: '2xx' })
    expect(data.length).toBe(1)
    expect((await run(language, program, trust)).code).toBeGreaterThan(0)
  })
})

test('without the query the credentials have no first request', async () => {
  for (const query of ['', '?first_request=0']) {
    expect(await credentialsAt(sandbox, query)).toEqual(await sandbox.credentials())
  }
  expect(JSON.stringify(await sandbox.credentials())).not.toContain('first_request')
  expect((await fetch(`${sandbox.controlUrl}/credentials?first_request=yes`)).status).toBe(400)
})

test('it is for alice or the first end user of the tenant; a tenant that cannot deposit has none', async () => {
  const { tenants } = await credentialsAt(sandbox, '?first_request=1')
  const users = tenants.map(({ slug, first_request }) => [
    slug,
    /end_users\/(\w+)\/deposit/.exec(first_request?.curl ?? '')?.[1],
  ])
  expect(Object.fromEntries(users)).toEqual({ acme: 'alice', globex: 'bob', restricted: undefined })
})
