import { Command, InvalidArgumentError } from 'commander'
import type { ActiveFault, FaultRule } from '../control/contract.ts'
import { type ControlFlags, clientOf, commandGroup, controlCommand, print } from './control-options.ts'
import { helpExamples } from './help-examples.ts'

interface AddFlags extends ControlFlags {
  phase?: string
  operation?: string
  tenant?: string
  externalId?: string
  skip?: unknown
  times?: unknown
  probability?: unknown
  with?: Record<string, unknown>
}

/** `faults list|add|clear`: the rules that make a running sandbox misbehave. */
export function faultsCommand(): Command {
  return commandGroup('faults', 'Faults of a running sandbox.', [
    listCommand(),
    addCommand(),
    clearCommand(),
    kindsCommand(),
  ])
}

function listCommand(): Command {
  return controlCommand('list', 'List the faults in force: id, kind, phase, hits, where, what it does.', [
    'faults list',
    'faults list --json',
  ]).action(async (flags: ControlFlags) => printFaults(flags, await clientOf(flags).faults()))
}

function addCommand(): Command {
  return controlCommand('add', 'Put a fault in force. Prints it as list does.', [
    'faults add drop_connection --phase after_broadcast --operation deposit',
    'faults add drop_connection --with how=truncate --with bytes=20',
    'faults add slow_confirmation --external-id alice --with delay=45s',
    'faults add error --with status=503 --with retry_after=1 --times always --probability 0.2',
  ])
    .argument('<kind>', 'what goes wrong')
    .option('--phase <phase>', 'when; each kind has a default')
    .option('--operation <operation>', 'only this operation')
    .option('--tenant <slug>', 'only this tenant')
    .option('--external-id <id>', 'only this end user')
    .option('--skip <n>', 'let so many matching requests through first', literal)
    .option('--times <n>', 'strike so often, or always (default: 1)', literal)
    .option('--probability <p>', 'chance to strike, 0 to 1, drawn from the seed (default: 1)', literal)
    .option('--with <name=value>', "one of the kind's own parameters; may be repeated", parameter)
    .action(async (kind: string, flags: AddFlags) => {
      printFaults(flags, await clientOf(flags).addFaults([ruleOf(kind, flags)]))
    })
}

function clearCommand(): Command {
  return controlCommand('clear', 'Clear one fault, or all of them.', ['faults clear', 'faults clear fault-1'])
    .argument('[id]', 'which one (default: all)')
    .action(async (id: string | undefined, flags: ControlFlags) => {
      const client = clientOf(flags)
      await (id === undefined ? client.clearFaults() : client.removeFault(id))
      print(flags, await client.faults(), [])
    })
}

function kindsCommand(): Command {
  return new Command('kinds')
    .description('List the kinds of faults: name, phases (the first is the default), parameters. Needs no sandbox.')
    .option('--json', 'print JSON instead of lines')
    .addHelpText('after', helpExamples(['faults kinds', 'faults kinds --json']))
    .action(async (flags: { json?: boolean }) => {
      // They are long, and no other command needs them.
      const { KINDS } = await import('../faults/kinds/index.ts')
      const kinds = KINDS.map(({ kind, phases, with: parameters }) => {
        return { kind, phases, parameters: Object.keys((parameters as { properties?: object }).properties ?? {}) }
      })
      print(
        flags,
        kinds,
        kinds.map(({ kind, phases, parameters }) => [kind, phases.join(','), parameters.join(',') || '-']),
        ['kind', 'phases', 'parameters'],
      )
    })
}

/** The rule, unchecked: the sandbox itself checks it, since its messages name the allowed values. */
function ruleOf(kind: string, flags: AddFlags): FaultRule {
  const { phase, operation, tenant, externalId: external_id, skip, times, probability, with: parameters } = flags
  const match = given({ operation, tenant, external_id })
  const rule = {
    phase,
    skip,
    times,
    probability,
    with: parameters,
    match: Object.keys(match).length ? match : undefined,
  }
  return { kind, ...given(rule) } as FaultRule
}

function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function parameter(text: string, earlier: Record<string, unknown> = {}): Record<string, unknown> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be name=value.')
  return { ...earlier, [name]: literal(value) }
}

/** Parses numbers and booleans; other words stay text. */
function literal(word: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word)
  return word === 'true' ? true : word === 'false' ? false : word
}

function printFaults(flags: ControlFlags, faults: ActiveFault[]): void {
  const row = ({ id, kind, phase, hits, match, explanation }: ActiveFault) => {
    const where = Object.entries(match ?? {}).map(([name, value]) => `${name}=${value}`)
    return [id, kind, phase, hits, where.join(',') || 'everywhere', explanation]
  }
  print(flags, faults, faults.map(row), ['id', 'kind', 'phase', 'hits', 'where', 'what it does'])
}
