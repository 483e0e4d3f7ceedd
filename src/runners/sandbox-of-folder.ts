import type { SandboxOptions } from '../options.ts'
import { findSandbox } from '../running/find-sandbox.ts'
import { flagsOf, INHERITED, reasonNotToJoin } from '../running/started-with.ts'
import { type Announced, joiningIsForbidden, NO_JOIN_VARIABLE } from './announced.ts'

/** Flags of a start whose effect every namespace shares. */
const OF_ALL = [...INHERITED, '--clock', '--tls', '--tls-cert', '--max-namespaces']

/**
 * The sandbox that runs for this folder, if a namespace in it is as one in a sandbox that is started with those options; undefined if there
 * is none. Reports in a line which one it is, or why it is not used. Throws OptionError if the variable that forbids it is no switch.
 */
export async function sandboxOfFolder(options: SandboxOptions = {}): Promise<Announced | undefined> {
  if (joiningIsForbidden()) return undefined
  const found = await findSandbox()
  if (found === undefined) return undefined
  const { fixtures, clock, seed: _, confirmationDelay: __, ...others } = options // a namespace has those as well
  const own = flagsOf(others)
  const without = clock === undefined ? OF_ALL : OF_ALL.filter((flag) => flag !== '--clock')
  const reason =
    own.length > 0 ? `the set-up asks for ${own.join(' and ')}` : reasonNotToJoin(found, { fixtures, without })
  if (reason !== undefined) {
    say(`the tests start a sandbox of their own: ${reason}`)
    return undefined
  }
  say(`the tests use the sandbox of ${found.folder} at ${found.url} (${NO_JOIN_VARIABLE}=1 starts another one)`)
  return { url: found.url, controlToken: found.control_token, caFile: found.ca_file }
}

/** Runners keep standard output to themselves. */
function say(line: string): void {
  process.stderr.write(`yield-sandbox: ${line}\n`)
}
