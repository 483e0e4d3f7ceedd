import { type Command, Option } from 'commander'
import type { ClockMove, ClockState, MovedClock } from '../control/contract.ts'
import { type ControlFlags, clientOf, controlCommand, print } from './control-options.ts'

interface Flags extends ControlFlags {
  advance?: string
  set?: string
  freeze?: boolean
  unfreeze?: boolean
}

/** `clock`: shows business time, or moves it. */
export function clockCommand(): Command {
  return controlCommand('clock', 'Show the sandbox clock, or move it: now, frozen or running, seconds ahead.', [
    'clock',
    'clock --advance 8d',
    'clock --set 2030-01-01T00:00:00Z --freeze',
    'clock --unfreeze',
  ])
    .addOption(new Option('--advance <duration>', 'move on by 250ms, 2s, 10m, 24h, 8d').conflicts('set'))
    .option('--set <moment>', 'move on to a later moment, ISO 8601')
    .addOption(new Option('--freeze', 'stop business time').conflicts('unfreeze'))
    .option('--unfreeze', 'let business time run on')
    .action(async (flags: Flags) => {
      const move = moveOf(flags)
      const client = clientOf(flags)
      const state: ClockState & Partial<MovedClock> = move ? await client.moveClock(move) : await client.clock()
      const behind = state.chains?.ok === false ? [`no block of that time: ${state.chains.reason}`] : []
      const row = [state.now, state.frozen ? 'frozen' : 'running', state.offset_seconds, ...behind]
      print(flags, state, [row], ['business time', 'state', 'seconds ahead', ...behind.map(() => 'chains')])
    })
}

function moveOf({ advance, set, freeze, unfreeze }: Flags): ClockMove | undefined {
  const move: ClockMove = {
    ...(advance !== undefined && { advance }),
    ...(set !== undefined && { set }),
    ...((freeze || unfreeze) && { freeze: freeze === true }),
  }
  return Object.keys(move).length > 0 ? move : undefined
}
