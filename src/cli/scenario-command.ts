import type { Command } from 'commander'
import type { ScenarioList, ScenarioRun } from '../control/contract.ts'
import { ControlError } from '../control/control-error.ts'
import { isScenarioFile, shippedScenarios } from '../scenarios/find-scenario.ts'
import { loadScenario } from '../scenarios/load-scenario.ts'
import { type ControlFlags, clientOf, commandGroup, controlCommand, print } from './control-options.ts'

/** `scenario list|run|stop`: prepared misbehaviour of a running sandbox. */
export function scenarioCommand(): Command {
  return commandGroup('scenario', 'Scenarios of a running sandbox.', [listCommand(), runCommand(), stopCommand()])
}

function listCommand(): Command {
  return controlCommand('list', 'List the shipped scenarios: name, running or not, description.', [
    'scenario list',
    'scenario list --json',
  ]).action(async (flags: ControlFlags) => {
    const { scenarios, current } = await clientOf(flags).scenarios().catch(shippedInstead)
    const own = current && !scenarios.some(({ name }) => name === current.name) ? [current] : []
    const state = (name: string) => (current?.name === name ? current.state : '-')
    const rows = [...scenarios, ...own].map(({ name, description }) => [name, state(name), description])
    print(flags, { scenarios, current }, rows, ['scenario', 'state', 'what goes wrong'])
  })
}

function runCommand(): Command {
  return controlCommand('run', 'Start a scenario and return. Prints what it applied.', [
    'scenario run dropped-deposit',
    'scenario run ./my-scenario.yaml',
  ])
    .argument('<name or file>', 'a shipped scenario, or a YAML or JSON file')
    .action(async (nameOrFile: string, flags: ControlFlags) => {
      const scenario = isScenarioFile(nameOrFile) ? await loadScenario(nameOrFile) : nameOrFile
      printRun(flags, await clientOf(flags).startScenario(scenario).catch(sayHowToStop))
    })
}

/** The shipped scenarios, if no sandbox answers: none runs then. */
async function shippedInstead(error: unknown): Promise<ScenarioList> {
  if (!(error instanceof ControlError) || error.code !== 'sandbox_unreachable') throw error
  process.stderr.write(`yield-sandbox: ${error.message}; these scenarios ship with it\n`)
  const scenarios = await shippedScenarios()
  return { scenarios: scenarios.map(({ name, description }) => ({ name, description })), current: null }
}

function sayHowToStop(error: unknown): never {
  if (!(error instanceof ControlError) || error.code !== 'scenario_running') throw error
  const [, name = 'a scenario'] = /The (scenario \S+) is running/.exec(error.message) ?? []
  throw new ControlError(`${name} is running; stop it first: yield-sandbox scenario stop`, error)
}

function stopCommand(): Command {
  return controlCommand('stop', 'Take back what the running scenario applied. Prints what came of it.', [
    'scenario stop',
  ]).action(async (flags: ControlFlags) => {
    const { stopped } = await clientOf(flags).stopScenario()
    if (stopped) printRun(flags, stopped)
    else print(flags, null, [])
  })
}

function printRun(flags: ControlFlags, run: ScenarioRun): void {
  print(flags, run, [
    ['scenario', run.name, run.state],
    ['seed', run.seed],
    ...run.faults.map(({ id, hits, explanation }) => ['fault', id, hits, explanation]),
    ...run.clock.map(({ moved_at, explanation }) => ['clock', moved_at ?? 'waiting', explanation]),
    ...(run.failure === null ? [] : [['failure', run.failure]]),
  ])
}
