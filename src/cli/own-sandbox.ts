import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { findSandbox } from '../running/find-sandbox.ts'

/**
 * Aims a command that talks to a sandbox, and is given no `--url`, at the one that runs for this folder. If there is none, the command
 * keeps the default address.
 */
export async function aimAtOwnSandbox(command: Command): Promise<void> {
  if (command.getOptionValueSource('url') !== 'default') return
  const found = await findSandbox()
  if (found === undefined) return
  const { url, control_token, ca_file } = found
  command.setOptionValueWithSource('url', url, 'config')
  if (control_token !== undefined) setUnlessGiven(command, 'controlToken', control_token)
  if (ca_file !== undefined) setUnlessGiven(command, 'ca', readFileSync(ca_file, 'utf8'))
}

function setUnlessGiven(command: Command, option: string, value: string): void {
  if (command.getOptionValueSource(option) === undefined) command.setOptionValueWithSource(option, value, 'config')
}
