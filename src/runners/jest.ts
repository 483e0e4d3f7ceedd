import type { NamespaceOptions } from '../library/handle.ts'
import { OptionError } from '../option-error.ts'
import { addToError } from './add-to-error.ts'
import { currentSandbox } from './current-sandbox.ts'
import { closeTestSandbox, openTestSandbox, type TestSandbox, type VerdictOptions } from './test-sandbox.ts'

export type { TestSandbox } from './test-sandbox.ts'

type Hook = (hook: () => Promise<void>) => void

/**
 * Gives every test of the file, or of the `describe` block, a namespace of its own: the returned handle is that of the test that runs. Call
 * it before hooks that use the handle. After a failed test, the findings of its namespace are printed.
 * @example
 * const sandbox = useSandbox()
 *
 * test('a deposit', async () => {
 *   await createApp(sandbox.env).deposit('1000000')
 *   expect((await sandbox.requests.next({ operation: 'deposit' })).end).toBe('answered')
 * })
 */
export function useSandbox({ verdict = false, ...options }: NamespaceOptions & VerdictOptions = {}): TestSandbox {
  const { beforeEach, afterEach } = hooks()
  const current = currentSandbox()
  beforeEach(async () => {
    current.sandbox = await openTestSandbox(options)
  })
  afterEach(async () => {
    const { sandbox } = current
    current.sandbox = undefined
    const errors = errorsOfTest()
    const show = (text: string) => {
      if (!addToError(errors[0], text)) console.error(text)
    }
    if (sandbox) await closeTestSandbox(sandbox, { failed: errors.length > 0, verdict, show })
  })
  return current.handle
}

/** Throws OptionError outside of a test file. */
function hooks(): { beforeEach: Hook; afterEach: Hook } {
  const { beforeEach, afterEach } = globalThis as { beforeEach?: Hook; afterEach?: Hook }
  if (beforeEach && afterEach) return { beforeEach, afterEach }
  throw new OptionError(
    'useSandbox needs the globals beforeEach and afterEach: call it in a test file, and leave injectGlobals on',
  )
}

/**
 * The errors of the running test so far, as jest-circus keeps them: no hook is given the outcome of its test. Empty if this is another
 * runner.
 */
function errorsOfTest(): unknown[] {
  const state = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL')
  const held = state && (Reflect.get(globalThis, state) as { currentlyRunningTest?: { errors?: unknown[] } })
  const errors = held?.currentlyRunningTest?.errors ?? []
  return errors.map((error) => (Array.isArray(error) ? error[0] : error))
}
