import { startSandbox } from '../library/start-sandbox.ts'
import type { SandboxOptions } from '../options.ts'
import { announce, announced } from './announced.ts'
import { connectToShared } from './test-sandbox.ts'

/** Ends a shared sandbox, unless somebody else had started it. */
export type StopShared = () => Promise<void>

/**
 * Starts the one sandbox of a test run, on a free port and without a confirmation delay unless the options say otherwise, and names it in
 * the environment, where workers find it. If the environment names a running one already, that one is used as it is and left running.
 * Throws as `startSandbox` does, and ControlError if the one named does not answer.
 */
export async function shareSandbox(options: SandboxOptions = {}): Promise<StopShared> {
  if (announced()) {
    await connectToShared()
    return async () => undefined
  }
  const sandbox = await startSandbox({ port: 0, confirmationDelay: 0, ...options })
  const { control_url, control_token } = await sandbox.credentials()
  const withdraw = announce({ url: new URL(control_url).origin, controlToken: control_token })
  return async () => {
    withdraw()
    await sandbox.stop()
  }
}
