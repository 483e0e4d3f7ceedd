import type { CompletedFlag, CompletedWord, CompletionNode } from './completion-tree.ts'

/** The completion script for fish. */
export function fishScript(nodes: readonly CompletionNode[]): string {
  const lines = nodes.flatMap((node) => [
    ...node.commands.map((command) => wordLine(conditionOf(node, nodes), command)),
    ...(node.argument ?? []).map((word) => wordLine(conditionOf(node, nodes), { word, about: '' })),
    ...node.flags.map((flag) => flagLine(conditionOf(node, nodes), flag)),
  ])
  return `# Completion of yield-sandbox for fish: yield-sandbox completion fish | source
complete -c yield-sandbox -f -n 'not contains -- -- (commandline -opc)'
${lines.join('\n')}
`
}

/** The shell's condition for a command: its words have come, and none of its own commands. */
function conditionOf({ path, commands }: CompletionNode, nodes: readonly CompletionNode[]): string {
  const top = nodes.find((one) => one.path.length === 0)?.commands ?? []
  const none = path.length === 0 ? top : commands
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`)
  const unseen = none.length > 0 ? [`not __fish_seen_subcommand_from ${none.map(({ word }) => word).join(' ')}`] : []
  return [...seen, ...unseen].join('; and ') || 'true'
}

function wordLine(condition: string, { word, about }: CompletedWord): string {
  return `complete -c yield-sandbox -n ${quoted(condition)} -a ${quoted(word)}${described(about)}`
}

function flagLine(condition: string, { word, about, takesValue, values = [] }: CompletedFlag): string {
  const given = values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : takesValue ? ' -r -F' : ''
  return `complete -c yield-sandbox -n ${quoted(condition)} -l ${word.slice(2)}${given}${described(about)}`
}

function described(about: string): string {
  return about === '' ? '' : ` -d ${quoted(about)}`
}

/** In fish, a backslash counts within quotes as well. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
