import type { Command } from 'commander'

const ON = new Set(['true', '1'])
const OFF = new Set(['false', '0'])

/**
 * Corrects commander's reading of environment variables: an empty one counts as unset, and a switch takes true, false, 1 and 0, where
 * commander turns a switch on by any value. Throws CommanderError.
 */
export function readEnvironment(program: Command): void {
  for (const option of program.options) {
    const name = option.envVar
    const value = name === undefined ? undefined : process.env[name]
    if (name === undefined || value === undefined) continue
    const word = value.trim().toLowerCase()
    const isSwitch = option.isBoolean() || option.negate
    if (value === '' || (isSwitch && OFF.has(word))) delete process.env[name]
    else if (isSwitch && !ON.has(word)) {
      program.error(`error: environment variable ${name} must be true, false, 1 or 0; got "${value}"`)
    }
  }
  for (const command of program.commands) readEnvironment(command)
}
