import { test as base } from 'vitest'
import type { NamespaceOptions } from '../library/handle.ts'
import { addToError } from './add-to-error.ts'
import { closeTestSandbox, openTestSandbox, type TestSandbox, type VerdictOptions } from './test-sandbox.ts'

export * from 'vitest'
export type { TestSandbox } from './test-sandbox.ts'

/** What a test may ask for by name. */
export interface VitestFixtures {
  /** A namespace of this test alone; made when the test asks for it, deleted when it is over. */
  sandbox: TestSandbox
  /** Options of that namespace, and whether its verdict counts; change them by `test.extend({ sandboxOptions: { … } })`. */
  sandboxOptions: NamespaceOptions & VerdictOptions
}

/**
 * Vitest's `test` with a sandbox. After a failed test, the findings of its namespace are part of its error.
 * @example
 * test('a deposit', async ({ sandbox }) => {
 *   await createApp(sandbox.env).deposit('1000000')
 *   expect((await sandbox.requests.next({ operation: 'deposit' })).end).toBe('answered')
 * })
 */
export const test = base.extend<VitestFixtures>({
  sandboxOptions: {},
  sandbox: async ({ sandboxOptions, task }, use) => {
    const { verdict = false, ...options } = sandboxOptions
    const sandbox = await openTestSandbox(options)
    await use(sandbox)
    const [error] = task.result?.errors ?? []
    const show = (text: string) => {
      if (!addToError(error, text)) console.error(text)
    }
    await closeTestSandbox(sandbox, { failed: task.result?.state === 'fail' || error !== undefined, verdict, show })
  },
})
/** @alias */
export const it = test
