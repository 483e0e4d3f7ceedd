import { hostname } from 'node:os'
import { isEveryInterface } from '../domain/origin.ts'
import { OptionError } from '../option-error.ts'
import type { SandboxOptions } from '../options.ts'
import type { ResolvedOptions } from '../resolve-options.ts'

/** The options of a process of a fleet. */
export type FleetStart = SandboxOptions & { database: string }

/** Refuses what is for a process of a fleet in the options of one that is not. Throws OptionError. */
export function refuseFleetOptions({ fleetHost, fleetAdvertise, drain }: SandboxOptions): void {
  const given = { '--fleet-host': fleetHost, '--fleet-advertise': fleetAdvertise, '--drain': drain }
  const [flag] = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (flag !== undefined)
    throw new OptionError(`${flag} is for one process of several: give --fleet-port as well, or leave it out`)
}

/** Refuses options of a start that do not go with those of a fleet. Throws OptionError. */
export function checkFleetOptions(given: SandboxOptions): asserts given is FleetStart {
  if (given.database === undefined) {
    throw new OptionError('--fleet-port needs --database: several processes share what that keeps')
  }
  if (given.publicUrl === undefined) {
    throw new OptionError(
      '--fleet-port needs --public-url: clients find all processes at one address, and tokens name it; give the address of what stands before them',
    )
  }
  if (given.snapshot !== undefined) {
    throw new OptionError(
      '--snapshot begins a state, and a process of several goes on from the stored one: start once with --snapshot and without --fleet-port',
    )
  }
  if (given.idleExit !== undefined && given.idleExit !== 0 && given.idleExit !== '0') {
    throw new OptionError('--idle-exit ends one process, and another of the fleet would take over: leave it out')
  }
}

/** Refuses a fleet whose processes would each make a control token. Throws OptionError. */
export function checkFleetToken(given: SandboxOptions, { local }: Pick<ResolvedOptions, 'local'>): void {
  if (local || given.controlToken !== undefined) return
  throw new OptionError(
    '--fleet-port needs --control-token, the same for all: each process would make another one, since this one can be reached from outside',
  )
}

/** The host under which other processes reach this one. */
export function advertisedHost({ fleetHost = '127.0.0.1', fleetAdvertise }: SandboxOptions): string {
  return fleetAdvertise ?? (isEveryInterface(fleetHost) ? hostname() : fleetHost)
}
