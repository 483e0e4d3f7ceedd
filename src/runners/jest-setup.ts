import type { SandboxOptions } from '../options.ts'
import { keepForTeardown } from './jest-teardown.ts'
import { shareSandbox } from './shared-sandbox.ts'

/** Jest's `globalSetup`: one sandbox for the whole run, which the `globalTeardown` ends. */
export default async function setup(): Promise<void> {
  keepForTeardown(await shareSandbox())
}

/**
 * A `globalSetup` with options of the start, for a file of your own.
 * @example module.exports = sandboxSetup({ fixtures: 'test/fixtures.yaml' })
 */
export function sandboxSetup(options: SandboxOptions): () => Promise<void> {
  return async () => keepForTeardown(await shareSandbox(options))
}
