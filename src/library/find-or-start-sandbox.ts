import { readFileSync } from 'node:fs'
import type { SandboxOptions } from '../options.ts'
import { findSandbox } from '../running/find-sandbox.ts'
import { hasFixtures } from '../running/started-with.ts'
import { version } from '../version.ts'
import { connectSandbox } from './connect-sandbox.ts'
import type { SandboxHandle } from './handle.ts'
import { startSandbox } from './start-sandbox.ts'

/**
 * The handle of the sandbox that runs for a folder (`yield-sandbox start`, with `--background` or without), or else of one that is started
 * in this process on a free port. It joins only a sandbox of its own version, and with the same fixture file if `options` name one; all
 * other options are those of a start. The end of an `await using` block ends only a sandbox that was started. Make a namespace for
 * everything that must not meet others. Throws as {@link startSandbox}.
 */
export async function findOrStartSandbox(
  options: SandboxOptions = {},
  directory: string = process.cwd(),
): Promise<{ sandbox: SandboxHandle; joined: boolean }> {
  const found = await findSandbox(directory)
  const fits = found?.version === version && hasFixtures(found, options.fixtures)
  if (found === undefined || !fits) return { sandbox: await startSandbox({ port: 0, ...options }), joined: false }
  const { url, control_token: controlToken, ca_file } = found
  const sandbox = await connectSandbox({
    url,
    ...(controlToken !== undefined && { controlToken }),
    ...(ca_file !== undefined && { ca: readFileSync(ca_file, 'utf8') }),
  })
  return { sandbox, joined: true }
}
