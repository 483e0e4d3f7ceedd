import type { TestSandbox } from './test-sandbox.ts'

/** A handle that stands for the sandbox of whichever test runs. */
export interface CurrentSandbox {
  handle: TestSandbox
  sandbox: TestSandbox | undefined
}

/** Makes such a handle. Between tests, its members throw an Error. */
export function currentSandbox(): CurrentSandbox {
  const current: CurrentSandbox = {
    sandbox: undefined,
    handle: new Proxy({} as TestSandbox, {
      get: (_, name) => {
        if (current.sandbox) return Reflect.get(current.sandbox, name)
        if (typeof name === 'symbol') return undefined // how a runner prints it
        throw new Error(
          `sandbox.${name} was read outside of a test: it is there in tests, and in hooks that follow useSandbox()`,
        )
      },
      has: (_, name) => current.sandbox !== undefined && name in current.sandbox,
    }),
  }
  return current
}
