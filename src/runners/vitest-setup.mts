import type { SandboxOptions } from '../options.ts'
import { type StopShared, shareSandbox } from './shared-sandbox.ts'

/** Vitest's `globalSetup`: one sandbox for the whole run. */
export default function setup(): Promise<StopShared> {
  return shareSandbox()
}

/**
 * A `globalSetup` with options of the start, for a file of your own.
 * @example export default sandboxSetup({ fixtures: 'test/fixtures.yaml' })
 */
export function sandboxSetup(options: SandboxOptions): () => Promise<StopShared> {
  return () => shareSandbox(options)
}
