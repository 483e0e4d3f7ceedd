import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { addToError } from '../../src/runners/add-to-error.ts'
import { currentSandbox } from '../../src/runners/current-sandbox.ts'
import { sandboxFixtures } from '../../src/runners/playwright.ts'
import { shareSandbox } from '../../src/runners/shared-sandbox.ts'
import { closeTestSandbox, openTestSandbox, type TestSandbox } from '../../src/runners/test-sandbox.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let shared: SandboxHandle

beforeAll(async () => {
  shared = await testSandbox()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await shared.stop()
})

const names = async () => (await shared.namespaces.list()).map(({ name }) => name)

/** A client that pays twice: the retry of a dropped deposit has another key. */
async function payTwice(sandbox: TestSandbox): Promise<void> {
  const acme = new Partner(sandbox)
  const portfolio = await acme.open('carol')
  await sandbox.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  await expect(acme.deposit('carol', portfolio, '1000000')).rejects.toThrow()
  await acme.deposit('carol', portfolio, '1000000')
}

test('without a running sandbox, what to do is said', async () => {
  vi.stubEnv('YIELD_SANDBOX_URL', '')
  await expect(openTestSandbox()).rejects.toThrow(
    /^no sandbox runs for these tests: name the global setup of yield-sandbox/,
  )
})

test('the one that the environment names is used, and left running', async () => {
  vi.stubEnv('YIELD_SANDBOX_URL', shared.baseUrl)
  const stop = await shareSandbox()
  await stop()
  expect(process.env.YIELD_SANDBOX_URL).toBe(shared.baseUrl)
  expect(await names()).toEqual(['default'])
})

test('a wrong word in the variable that forbids joining is refused', async () => {
  vi.stubEnv('YIELD_SANDBOX_URL', '')
  vi.stubEnv('YIELD_SANDBOX_NO_JOIN', 'yes')
  await expect(shareSandbox()).rejects.toThrow(
    'environment variable YIELD_SANDBOX_NO_JOIN must be true, false, 1 or 0; got "yes"',
  )
  vi.stubEnv('YIELD_SANDBOX_URL', shared.baseUrl)
})

describe('the sandbox of a test', () => {
  test('has its connection, headers of a good request, and a chain that is loaded when it is read', async () => {
    const sandbox = await openTestSandbox({ clock: '2030-01-01T00:00:00Z' })
    const { env, clientId, clientSecret, baseUrl } = sandbox
    expect([env.YIELD_BASE_URL, env.YIELD_CLIENT_ID, env.YIELD_CLIENT_SECRET]).toEqual([
      baseUrl,
      clientId,
      clientSecret,
    ])
    expect(await sandbox.clock.iso()).toBe('2030-01-01T00:00:00.000Z')
    const url = `${baseUrl}/v1/partner/end_users/alice/portfolios`
    expect((await fetch(url, { headers: await sandbox.headers('alice') })).status).toBe(200)
    expect(await sandbox.chain.getChainId()).toBe(31337)
    const show = vi.fn()
    await closeTestSandbox(sandbox, { failed: false, show })
    expect(show).not.toHaveBeenCalled()
    expect(await names()).toEqual(['default'])
  })

  test('says after a failure what its client did wrong, and is deleted', async () => {
    const sandbox = await openTestSandbox()
    await payTwice(sandbox)
    const show = vi.fn()
    await closeTestSandbox(sandbox, { failed: true, verdict: true, show })
    expect(show).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^What the sandbox saw .*\n✗ carol's deposit .* was carried out\n {2}both times/),
    )
    const [[text]] = show.mock.calls as [[string]]
    expect(text).toContain('fix       Make the Idempotency-Key once per operation')
    expect(text).not.toMatch(/Coverage|--verbose|Not tested/)
    expect(await names()).toEqual(['default'])
  })

  test('lets a test fail that passed, if its verdict counts', async () => {
    const [right, wrong] = [await openTestSandbox(), await openTestSandbox()]
    await payTwice(wrong)
    const show = vi.fn()
    await closeTestSandbox(right, { failed: false, verdict: true, show })
    await expect(wrong.expectPassed()).rejects.toThrow(/this pays twice/)
    const end = closeTestSandbox(wrong, { failed: false, verdict: true, show })
    await expect(end).rejects.toMatchObject({
      name: 'VerdictError',
      message: expect.stringContaining('this pays twice'),
    })
    expect(await names()).toEqual(['default'])
  })
})

describe('the fixtures of Playwright', () => {
  const info = {
    status: 'passed',
    expectedStatus: 'passed',
    errors: [],
    config: { workers: 1 },
    attach: async () => undefined,
  }
  const { sandbox: fixture } = sandboxFixtures
  const options = { sandboxVerdict: false, sandbox: undefined as never }

  test('reset the namespace of the application, and make it if there is none', async () => {
    for (const expected of ['404', '404']) {
      await fixture({ ...options, sandboxNamespace: 'worker-0' }, use, info)
      async function use(sandbox: TestSandbox) {
        const acme = new Partner(sandbox)
        expect(String((await acme.get('end_users/carol/portfolios')).status)).toBe(expected)
        await acme.open('carol')
      }
    }
    expect(await names()).toEqual(['default', 'worker-0'])
    await shared.namespaces.delete('worker-0')
  })

  test('make one for each test, if it is to be so', async () => {
    await fixture(
      { ...options, sandboxNamespace: null },
      async (own) => expect(own.namespace).not.toBe('default'),
      info,
    )
    expect(await names()).toEqual(['default'])
  })

  test('refuse to reset what other workers use', async () => {
    const many = { ...info, config: { workers: 4 } }
    const used = fixture({ ...options, sandboxNamespace: 'default' }, async () => undefined, many)
    await expect(used).rejects.toThrow(/^4 workers would reset the namespace "default" for one another: set workers: 1/)
  })
})

test('a handle that stands for the running test says when there is none', async () => {
  const current = currentSandbox()
  expect(() => current.handle.baseUrl).toThrow(/sandbox.baseUrl was read outside of a test/)
  current.sandbox = { baseUrl: 'http://here' } as TestSandbox
  expect(current.handle.baseUrl).toBe('http://here')
  expect('baseUrl' in current.handle).toBe(true)
})

test('a text is added to message and stack, before the frames', () => {
  const error = new Error('first')
  expect(addToError(error, 'more')).toBe(true)
  expect([error.message, error.stack]).toEqual([
    'first\n\nmore',
    expect.stringMatching(/^Error: first\n\nmore\n\n\s+at /),
  ])
  expect([addToError('a text', 'more'), addToError(undefined, 'more')]).toEqual([false, false])
})
