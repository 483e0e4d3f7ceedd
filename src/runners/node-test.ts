import { after } from 'node:test'
import type { NamespaceOptions } from '../library/handle.ts'
import { addToError } from './add-to-error.ts'
import { type StopShared, shareSandbox } from './shared-sandbox.ts'
import { closeTestSandbox, openTestSandbox, type TestSandbox, type VerdictOptions } from './test-sandbox.ts'

export type { TestSandbox } from './test-sandbox.ts'

/** The context that node:test gives to a test. */
interface TestContext {
  after(hook: () => Promise<void>): void
  diagnostic(text: string): void
}

let starting: Promise<StopShared> | undefined
after(async () => {
  await (await starting)?.()
})

/**
 * Gives a test a namespace of its own, deleted when the test is over; tests of a file may run at once. After a failed test, the findings of
 * its namespace are part of its error. The sandbox is that of the environment variable `YIELD_SANDBOX_URL`; without one, each file starts
 * its own at its first use.
 * @example
 * test('a deposit', async (t) => {
 *   const sandbox = await useSandbox(t)
 *   await createApp(sandbox.env).deposit('1000000')
 *   assert.equal((await sandbox.requests.next({ operation: 'deposit' })).end, 'answered')
 * })
 */
export async function useSandbox(
  t: TestContext,
  { verdict = false, ...options }: NamespaceOptions & VerdictOptions = {},
): Promise<TestSandbox> {
  starting ??= shareSandbox()
  await starting
  const sandbox = await openTestSandbox(options)
  t.after(async () => {
    const error = errorOf(t)
    const show = (text: string) => {
      if (!addToError(error, text)) t.diagnostic(text)
    }
    await closeTestSandbox(sandbox, { failed: error !== null, verdict, show })
  })
  return sandbox
}

/** The error that a test failed with, as it was thrown; null if it has not failed. */
function errorOf(t: TestContext): unknown {
  const { error } = t as { error?: { cause?: unknown } | null }
  return error?.cause ?? error ?? null
}
