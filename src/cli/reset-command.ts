import type { Command } from 'commander'
import { type ControlFlags, clientOf, controlCommand, print } from './control-options.ts'

/** `reset`: takes everything back to the initial state. */
export function resetCommand(): Command {
  return controlCommand('reset', 'Back to the fixtures: state, chain, faults, scenario, clock.', [
    'reset',
    'reset --url http://127.0.0.1:4011 --json',
  ]).action(async (flags: ControlFlags) => {
    const state = await clientOf(flags).reset()
    print(flags, state, [[state.ready ? 'ready' : `not ready: ${state.reason}`]])
  })
}
