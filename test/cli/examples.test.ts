import { type Command, CommanderError } from 'commander'
import { describe, expect, test } from 'vitest'
import { programOf } from '../../src/cli/main.ts'
import { readFault } from '../../src/exec/exec.ts'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'

const program = await programOf()

/** Every command below, by its name from the beginning; commander's own `help` has none of ours. */
function commandsBelow(parent: Command, path: string[] = []): [string, Command][] {
  return parent.commands.flatMap((command): [string, Command][] => {
    const name = [...path, command.name()]
    return [[name.join(' '), command], ...commandsBelow(command, name)]
  })
}

/** What `--help` prints. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (more) => (text += more), writeErr: (more) => (text += more) })
  command.outputHelp()
  return text
}

const WORD = /'[^']*'|"[^"]*"|[^\s'"]+/g

/** The calls of this program in the examples of a help text, as words: up to what only a shell understands. */
function callsIn(help: string): string[][] {
  const [, examples = ''] = help.split(/^Examples?:$/m)
  const calls = [...examples.matchAll(/yield-sandbox((?:'[^']*'|"[^"]*"|[^'"&|>)\n])*)/g)]
  return calls.map(([, call = '']) => (call.match(WORD) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, '$2')))
}

const commands = commandsBelow(program)

describe.each([['yield-sandbox', program] as [string, Command], ...commands])('%s', (_, command) => {
  const calls = callsIn(helpOf(command))

  test('has examples in its help, and each can be given', async () => {
    expect(calls.length).toBeGreaterThan(0)
    for (const call of calls) await given(call)
  })

  test('has --json, or commands that have it', () => {
    const has = command.commands.length > 0 || command.options.some(({ long }) => long === '--json')
    expect(has).toBe(true)
  })
})

const called: { scenario?: string[]; fault?: string | string[] }[] = []
const scenarioNames = [...(await shippedScenarios()).map(({ name }) => name), 'all']

/** The same command line, which only notes what it is called with. */
const reader = await programOf()
for (const [, command] of [['', reader] as const, ...commandsBelow(reader)]) {
  command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
  if (command.commands.length === 0) command.action((...all) => void called.push(all.at(-2)))
}

/** Has the command line read a call without doing it; throws if a word of it is wrong. */
async function given(words: string[]): Promise<void> {
  called.length = 0
  try {
    await reader.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw new Error(words.join(' '), { cause: error })
    return // --help
  }
  expect(called, words.join(' ')).toHaveLength(1)
  const [{ scenario = [], fault = [] } = {}] = called
  for (const one of scenario) if (!one.includes('/')) expect(scenarioNames).toContain(one)
  for (const one of [fault].flat()) readFault(one)
}

test('a misspelt example is noticed', async () => {
  await expect(given(['exec', '--scenaro', 'x', '--', 'npm', 'test'])).rejects.toThrow('exec --scenaro')
  await expect(given(['exec', '--scenario', 'dropped-deposits', '--', 'npm', 'test'])).rejects.toThrow()
})
