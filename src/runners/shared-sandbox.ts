import type { SandboxOptions } from '../options.ts'
import { announce, announced } from './announced.ts'
import { sandboxOfFolder } from './sandbox-of-folder.ts'
import { connectToShared } from './test-sandbox.ts'

/** Ends the use of a shared sandbox, and the sandbox itself if it was started for this run. */
export type StopShared = () => Promise<void>

/**
 * Finds the one sandbox of a test run and names it in the environment, where workers find it. It is the one that the environment names
 * already; else the one that runs for this folder, if it is as the options say; else one that is started on a free port, without a
 * confirmation delay unless the options say otherwise. Only the last ends with the run. Throws as `startSandbox` does, OptionError for a
 * wrong variable, and ControlError if the one that is named does not answer.
 */
export async function shareSandbox(options: SandboxOptions = {}): Promise<StopShared> {
  if (announced()) {
    await connectToShared()
    return async () => undefined
  }
  const running = await sandboxOfFolder(options)
  if (running === undefined) return startShared(options)
  const { confirmationDelay = 0, seed, clock } = options
  const usual = { confirmationDelay, ...(seed !== undefined && { seed }), ...(clock !== undefined && { clock }) }
  const withdraw = announce({ ...running, usual })
  return async () => withdraw()
}

async function startShared(options: SandboxOptions): Promise<StopShared> {
  // Loaded here: a run that joins a sandbox does without it.
  const { startSandbox } = await import('../library/start-sandbox.ts')
  const sandbox = await startSandbox({ port: 0, confirmationDelay: 0, ...options })
  const { control_url, control_token, ca_file } = await sandbox.credentials()
  const withdraw = announce({ url: new URL(control_url).origin, controlToken: control_token, caFile: ca_file })
  return async () => {
    withdraw()
    await sandbox.stop()
  }
}
