/*
 * The sandbox of a test run, as the environment names it: it is what workers inherit, and the command line reads the same variables.
 */

/** Where a sandbox runs, and how to control it. */
export interface Announced {
  url: string
  controlToken?: string | undefined
  /** Path of the PEM file of the authority to trust, for https. */
  caFile?: string | undefined
}

/** Variable that has the URL. */
export const URL_VARIABLE = 'YIELD_SANDBOX_URL'
const TOKEN_VARIABLE = 'YIELD_SANDBOX_CONTROL_TOKEN'
const CA_VARIABLE = 'YIELD_SANDBOX_CA'

/** The sandbox that the environment names; undefined if it names none. An empty variable counts as unset. */
export function announced(): Announced | undefined {
  const { [URL_VARIABLE]: url, [TOKEN_VARIABLE]: controlToken, [CA_VARIABLE]: caFile } = process.env
  return url ? { url, controlToken: controlToken || undefined, caFile: caFile || undefined } : undefined
}

/** Names a sandbox in the environment of this process and of those that it starts. Returns what takes that back. */
export function announce({ url, controlToken }: Announced): () => void {
  process.env[URL_VARIABLE] = url
  if (controlToken !== undefined) process.env[TOKEN_VARIABLE] = controlToken
  return () => {
    delete process.env[URL_VARIABLE]
    if (controlToken !== undefined) delete process.env[TOKEN_VARIABLE]
  }
}
