import type { Argument, Command, Option } from 'commander'

/** What can follow on a command line. */
export interface CompletionNode {
  /** Names of the commands that lead here; empty for the program. */
  path: string[]
  commands: CompletedWord[]
  flags: CompletedFlag[]
  /** Values of the first argument; undefined where any text, or a file, may stand. */
  argument: readonly string[] | undefined
}

/** A word, and what it is for. */
export interface CompletedWord {
  word: string
  about: string
}

/** A flag: its long form. */
export interface CompletedFlag extends CompletedWord {
  takesValue: boolean
  /** Its values, where they are known. */
  values: readonly string[] | undefined
}

/** Values that commander does not know, by what it calls them. */
export interface KnownValues {
  /** By the long form of a flag. */
  flags: Readonly<Record<string, readonly string[]>>
  /** By the path of a command, for its first argument. */
  arguments: Readonly<Record<string, readonly string[]>>
}

/** The command that is meant where none is named. */
const DEFAULT = 'start'

/** The whole command line, one node for each command, as commander has it. */
export function completionTree(program: Command, known: KnownValues): CompletionNode[] {
  const nodes = nodesBelow(program, [], known)
  const ofDefault = nodes.find(({ path }) => path.join(' ') === DEFAULT)?.flags ?? []
  return nodes.map((node) => (node.path.length > 0 ? node : { ...node, flags: [...node.flags, ...ofDefault] }))
}

function nodesBelow(command: Command, path: string[], known: KnownValues): CompletionNode[] {
  const [argument] = command.registeredArguments
  const own: CompletionNode = {
    path,
    commands: command.commands.map((one) => ({ word: one.name(), about: one.description() })),
    flags: command.options.flatMap((option) => flagOf(option, known) ?? []),
    argument: argument && valuesOf(argument, known.arguments[path.join(' ')]),
  }
  return [own, ...command.commands.flatMap((one) => nodesBelow(one, [...path, one.name()], known))]
}

function flagOf(option: Option, known: KnownValues): CompletedFlag | undefined {
  if (!option.long) return undefined
  const values = option.argChoices ?? known.flags[option.long]
  return { word: option.long, about: option.description, takesValue: option.required || option.optional, values }
}

function valuesOf({ argChoices }: Argument, values: readonly string[] | undefined): readonly string[] | undefined {
  return argChoices ?? values
}
