import type { Credentials } from '../control/contract.ts'
import { OptionError } from '../option-error.ts'
import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'

/** Facts about the sandbox that a command gets, by the name of the variable. Undefined: the fixture does not have it. */
const VARIABLES = {
  YIELD_BASE_URL: ({ base_url }) => base_url,
  YIELD_AUTH_URL: ({ auth_url }) => auth_url,
  YIELD_CLIENT_ID: ({ tenants: [tenant] }) => tenant?.client_id,
  YIELD_CLIENT_SECRET: ({ tenants: [tenant] }) => tenant?.client_secret,
  YIELD_SCOPE: ({ scope }) => scope,
  YIELD_AUDIENCE: ({ audience }) => audience,
  YIELD_ISSUER: ({ tenants: [tenant] }) => tenant?.issuer,
  YIELD_KEY_ID: ({ tenants: [tenant] }) => tenant?.kid ?? undefined,
  YIELD_PRIVATE_KEY_PEM: ({ tenants: [tenant] }) => tenant?.private_key_pem ?? undefined,
  YIELD_EXTERNAL_ID: ({ tenants: [tenant] }) => tenant?.end_users[0],
  YIELD_RPC_URL: ({ rpc_urls }) => Object.values(rpc_urls)[0],
  YIELD_CONTROL_URL: ({ control_url }) => control_url,
} satisfies Record<string, (credentials: Credentials) => string | undefined>

/** Name of a variable that a command is given. */
export type VariableName = keyof typeof VARIABLES

const NAMES = Object.keys(VARIABLES) as VariableName[]

/** Variables of the command line itself: its commands must find this sandbox, not another that the caller has. */
const OWN = ['YIELD_SANDBOX_URL', 'YIELD_SANDBOX_NAMESPACE', 'YIELD_SANDBOX_CONTROL_TOKEN', 'YIELD_SANDBOX_CA']

/** A second name for a variable: the one that an application reads. */
export interface Rename {
  theirs: string
  ours: VariableName
}

/** Reads `THEIR_NAME=YIELD_NAME`. Throws OptionError. */
export function parseRename(text: string): Rename {
  const [, theirs, name = ''] = /^([A-Za-z_][\w.]*)=(.*)$/s.exec(text) ?? []
  if (theirs === undefined) {
    throw new OptionError(`--env "${shorten(text)}" must be THEIR_NAME=YIELD_NAME, such as API_URL=YIELD_BASE_URL`)
  }
  const ours = NAMES.find((candidate) => candidate === name)
  if (ours) return { theirs, ours }
  throw new OptionError(`--env "${shorten(text)}": "${shorten(name)}" is not known; ${suggest(name, NAMES)}`)
}

/** The facts about a sandbox by the name of their variable; those that the fixture does not have are left out. */
export function connectionVariables(credentials: Credentials): Partial<Record<VariableName, string>> {
  const all = NAMES.map((name): [VariableName, string | undefined] => [name, VARIABLES[name](credentials)])
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/** The environment of a command: the caller's, and the variables of its sandbox. */
export function commandEnvironment(
  caller: NodeJS.ProcessEnv,
  credentials: Credentials,
  renames: readonly Rename[],
): NodeJS.ProcessEnv {
  const env = { ...caller }
  const give = (name: string, value: string | undefined) => {
    if (value === undefined) delete env[name]
    else env[name] = value
  }
  for (const name of OWN) delete env[name]
  give('YIELD_SANDBOX_URL', new URL(credentials.control_url).origin)
  for (const name of NAMES) give(name, VARIABLES[name](credentials))
  for (const { theirs, ours } of renames) give(theirs, VARIABLES[ours](credentials))
  return env
}
