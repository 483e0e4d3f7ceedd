import type { StopShared } from './shared-sandbox.ts'

let stop: StopShared | undefined

/** Keeps what ends the sandbox of the run. */
export function keepForTeardown(by: StopShared): void {
  stop = by
}

/** Jest's `globalTeardown`: ends the sandbox that the `globalSetup` started. */
export default async function teardown(): Promise<void> {
  await stop?.()
  stop = undefined
}
