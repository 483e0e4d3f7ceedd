import type { NamespaceOptions } from '../library/handle.ts'
import { OptionError } from '../option-error.ts'
import { shorten } from '../support/foreign-text.ts'
import { parseSwitch, SWITCH_FORM } from '../support/parse-switch.ts'

/*
 * The sandbox of a test run, as the environment names it: it is what workers inherit, and the command line reads the same variables.
 */

/** Where a sandbox runs, and how to control it. */
export interface Announced {
  url: string
  controlToken?: string | undefined
  /** Path of the PEM file of the authority to trust, for https. */
  caFile?: string | undefined
  /** What a namespace of a test has unless the test says otherwise. */
  usual?: UsualOptions | undefined
}

/** Options of a start that a namespace can have as well. */
export type UsualOptions = Pick<NamespaceOptions, 'confirmationDelay' | 'seed' | 'clock'>

/** Variable that has the URL. */
export const URL_VARIABLE = 'YIELD_SANDBOX_URL'
/** Variable that keeps tests from the sandbox of their folder. */
export const NO_JOIN_VARIABLE = 'YIELD_SANDBOX_NO_JOIN'
const TOKEN_VARIABLE = 'YIELD_SANDBOX_CONTROL_TOKEN'
const CA_VARIABLE = 'YIELD_SANDBOX_CA'
const USUAL_VARIABLE = 'YIELD_SANDBOX_OF_TESTS'

/** The sandbox that the environment names; undefined if it names none. An empty variable counts as unset. */
export function announced(): Announced | undefined {
  const { [URL_VARIABLE]: url, [TOKEN_VARIABLE]: controlToken, [CA_VARIABLE]: caFile } = process.env
  const { [USUAL_VARIABLE]: usual } = process.env
  if (!url) return undefined
  const known = usual ? (JSON.parse(usual) as UsualOptions) : undefined
  return { url, controlToken: controlToken || undefined, caFile: caFile || undefined, usual: known }
}

/** Names a sandbox in the environment of this process and of those that it starts. Returns what takes that back. */
export function announce({ url, controlToken, caFile, usual }: Announced): () => void {
  const variables: [string, string | undefined][] = [
    [URL_VARIABLE, url],
    [TOKEN_VARIABLE, controlToken],
    [CA_VARIABLE, caFile],
    [USUAL_VARIABLE, usual && JSON.stringify(usual)],
  ]
  const named = variables.filter((one): one is [string, string] => one[1] !== undefined)
  for (const [name, value] of named) process.env[name] = value
  return () => {
    for (const [name] of named) delete process.env[name]
  }
}

/** @returns true if tests must not use the sandbox of their folder. Throws OptionError if the variable holds no switch */
export function joiningIsForbidden(): boolean {
  const value = process.env[NO_JOIN_VARIABLE] ?? ''
  const position = parseSwitch(value)
  if (position !== undefined) return position
  throw new OptionError(`environment variable ${NO_JOIN_VARIABLE} must be ${SWITCH_FORM}; got "${shorten(value)}"`)
}
