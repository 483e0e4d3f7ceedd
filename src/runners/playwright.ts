import { ControlClient } from '../control/client.ts'
import { ControlError } from '../control/control-error.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { SandboxHandle } from '../library/handle.ts'
import { OptionError } from '../option-error.ts'
import { enclosingFolders } from '../running/project-folder.ts'
import { recordOf } from '../running/sandbox-record.ts'
import { addToError } from './add-to-error.ts'
import { type Announced, announce, announced } from './announced.ts'
import { sandboxOfFolder } from './sandbox-of-folder.ts'
import {
  closeTestSandbox,
  connectToShared,
  makeNamespace,
  openTestSandbox,
  type TestSandbox,
  testSandboxOf,
} from './test-sandbox.ts'

export type { TestSandbox } from './test-sandbox.ts'

/** What a test may ask for by name. */
export interface SandboxFixtures {
  /** The sandbox behind the application, as it is after a reset. */
  sandbox: TestSandbox
  /**
   * The namespace that the application uses by its credentials; made if there is none. Null: one for each test, whose credentials the
   * test itself gives to what it tests. Default: `default`.
   */
  sandboxNamespace: string | null
  /** True if a test fails as well when its client broke a rule. Default: findings are shown beside a test that failed by itself. */
  sandboxVerdict: boolean
}

/** What Playwright knows of the running test. */
interface TestInfo {
  status?: string | undefined
  expectedStatus: string
  errors: readonly unknown[]
  config: { workers: number }
  attach(name: string, attachment: { body: string; contentType: string }): Promise<void>
}

type Use<Value> = (value: Value) => Promise<void>

/** Where `yield-sandbox start` listens. */
const USUAL_URL = 'http://127.0.0.1:4010'

/**
 * Fixtures for Playwright's `test`: the sandbox that `webServer` started, or the one that `YIELD_SANDBOX_URL` names. After a failed test,
 * the findings are part of its error.
 * @example
 * export const test = base.extend<SandboxFixtures>(sandboxFixtures)
 */
export const sandboxFixtures = {
  sandboxNamespace: [DEFAULT_NAMESPACE, { option: true }] as [string | null, { option: true }],
  sandboxVerdict: [false, { option: true }] as [boolean, { option: true }],
  sandbox: async (
    { sandboxNamespace, sandboxVerdict }: SandboxFixtures,
    use: Use<TestSandbox>,
    testInfo: TestInfo,
  ): Promise<void> => {
    if (!announced()) announce(await startedOrOfFolder())
    const sandbox = sandboxNamespace === null ? await openTestSandbox() : await lent(sandboxNamespace, testInfo)
    await use(sandbox)
    const failed = testInfo.status !== testInfo.expectedStatus
    const show = async (body: string) => {
      if (addToError(testInfo.errors[0], body)) return
      await testInfo.attach('yield-sandbox', { body, contentType: 'text/plain' })
    }
    await closeTestSandbox(sandbox, { failed, verdict: sandboxVerdict, show })
  },
}

/** The sandbox that `webServer` started; where nothing listens, or the sandbox of another folder does, the one of this folder. */
async function startedOrOfFolder(): Promise<Announced> {
  const health = await new ControlClient(USUAL_URL).health().catch(() => undefined)
  const record = health && recordOf(health.instance)
  const started = { url: USUAL_URL, controlToken: record?.control_token }
  const isForeign = record !== undefined && !enclosingFolders(process.cwd()).includes(record.folder)
  return (health === undefined || isForeign ? await sandboxOfFolder() : undefined) ?? started
}

/** A namespace that outlives the test, reset; `stop` leaves it. Throws OptionError if tests would reset it for one another. */
async function lent(name: string, { config }: TestInfo): Promise<TestSandbox> {
  if (name === DEFAULT_NAMESPACE && config.workers > 1) {
    throw new OptionError(
      `${config.workers} workers would reset the namespace "${name}" for one another: set workers: 1, or start an application for each ` +
        'worker and name its namespace by sandboxNamespace (docs/runners.md)',
    )
  }
  const handle = await existing(name)
  await handle.reset()
  return testSandboxOf(Object.assign(handle, { stop: async () => undefined }))
}

async function existing(name: string): Promise<SandboxHandle> {
  try {
    return await connectToShared(name)
  } catch (error) {
    if (!(error instanceof ControlError) || error.code !== 'namespace_not_found') throw error
    await makeNamespace(await connectToShared(), { name })
    return connectToShared(name)
  }
}
