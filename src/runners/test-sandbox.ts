import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ReportWish } from '../control/contract.ts'
import { connectionVariables } from '../exec/command-environment.ts'
import { connectLazily } from '../library/connect-sandbox.ts'
import type { NamespaceOptions, SandboxHandle } from '../library/handle.ts'
import { OptionError } from '../option-error.ts'
import { renderFailures } from '../verdict/render/text.ts'
import { announced, URL_VARIABLE } from './announced.ts'

/** The sandbox of one test: the handle of a namespace, and what a test needs beside it. */
export interface TestSandbox extends SandboxHandle {
  /** Client id of the first tenant. It leads to this namespace, as the secret does. */
  readonly clientId: string
  readonly clientSecret: string
  /** The connection as `yield-sandbox exec` gives it to a command: `YIELD_BASE_URL`, `YIELD_CLIENT_ID` and so on. */
  readonly env: Readonly<Partial<Record<`YIELD_${string}`, string>>>
  /**
   * Headers of a good request about an end user: both tokens, a fresh Idempotency-Key, and JSON as the content type. For what a test has
   * to prepare, and for a first one: your own client makes its own.
   */
  headers(externalId: string): Promise<Record<string, string>>
  /**
   * Rejects with the findings if the verdict on the client is not "passed".
   * @example await sandbox.expectPassed({ require: ['idempotency-key-on-retry'] })
   */
  expectPassed(wish?: ReportWish): Promise<void>
}

/** The verdict on a client is not what a test asks for; the message is the report. */
export class VerdictError extends Error {
  override readonly name = 'VerdictError'
  readonly code = 'verdict'
}

/** Connects to the sandbox that the environment names. Throws OptionError if it names none, ControlError if that does not answer. */
export async function connectToShared(namespace?: string): Promise<SandboxHandle> {
  const running = announced()
  if (!running) {
    throw new OptionError(
      'no sandbox runs for these tests: name the global setup of yield-sandbox in the configuration of your test runner ' +
        `(docs/runners.md shows how), or set ${URL_VARIABLE} to a running one`,
    )
  }
  const { url, controlToken, caFile } = running
  return connectLazily({
    url,
    ...(controlToken !== undefined && { controlToken }),
    ...(caFile !== undefined && { ca: await readFile(caFile, 'utf8') }),
    ...(namespace !== undefined && { namespace }),
  })
}

let shared: Promise<SandboxHandle> | undefined

/** Makes a namespace of the shared sandbox for one test; `stop()` deletes it. Throws OptionError and ControlError. */
export async function openTestSandbox(options: NamespaceOptions = {}): Promise<TestSandbox> {
  shared ??= connectToShared()
  shared.catch(() => {
    shared = undefined
  })
  return testSandboxOf(await makeNamespace(await shared, options))
}

/** Makes a namespace as the set-up of the tests wants it unless the options say otherwise. */
export function makeNamespace(of: SandboxHandle, options: NamespaceOptions): Promise<SandboxHandle> {
  const { confirmationDelay, ...begun } = announced()?.usual ?? {}
  const hasState = options.snapshot !== undefined || options.from !== undefined // and so a seed and a clock
  const usual = { ...(confirmationDelay !== undefined && { confirmationDelay }), ...(!hasState && begun) }
  return of.namespaces.create({ ...usual, ...options })
}

/** Adds to a handle what a test needs beside it. */
export async function testSandboxOf(handle: SandboxHandle): Promise<TestSandbox> {
  const { client_id: clientId = '', client_secret: clientSecret = '' } = handle.tenants[0] ?? {}
  const env = connectionVariables(await handle.credentials())
  const expectPassed = async (wish: ReportWish = {}) => {
    const report = await handle.report(wish)
    if (report.verdict !== 'passed') throw new VerdictError(renderFailures(report))
  }
  const headers = async (externalId: string) => ({
    authorization: `Bearer ${await handle.idpToken()}`,
    'x-user-token': await handle.userToken(externalId),
    'idempotency-key': randomUUID(),
    'content-type': 'application/json',
  })
  return Object.assign(handle, { clientId, clientSecret, env, headers, expectPassed })
}

/** Options of what is said of a test when it is over. */
export interface VerdictOptions {
  /** True if a test fails as well when its client broke a rule; default: findings are shown beside a test that failed by itself. */
  verdict?: boolean
}

/** How a test went, as its runner knows it. */
export interface TestEnd extends VerdictOptions {
  failed: boolean
  /** Shows a text beside the failure. */
  show(text: string): void | Promise<void>
}

/**
 * Looks at the verdict when a test is over, and then deletes its namespace. Throws VerdictError if the test passed, and its client may not
 * break rules and did.
 */
export async function closeTestSandbox(sandbox: TestSandbox, { failed, verdict, show }: TestEnd): Promise<void> {
  try {
    if (!failed && !verdict) return
    const report = await sandbox.report()
    const text = renderFailures(report)
    if (failed) await show(`What the sandbox saw of this test (namespace ${sandbox.namespace}):\n${text}`)
    else if (report.verdict === 'failed') throw new VerdictError(text)
  } finally {
    await sandbox.stop()
  }
}
