import type { CompletionNode } from './completion-tree.ts'

/** The completion script for bash; flags of the program itself are those of `start`. */
export function bashScript(nodes: readonly CompletionNode[]): string {
  return `# Completion of yield-sandbox for bash: source <(yield-sandbox completion bash)
_yield_sandbox() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path= i words=
  for ((i = 1; i < COMP_CWORD; i++)); do
    # What follows -- is another command.
    [[ \${COMP_WORDS[i]} == -- ]] && { COMPREPLY=($(compgen -c -f -- "$word")); return; }
    case "$path \${COMP_WORDS[i]}" in
${paths(nodes)}
    esac
  done
  case "$path $before" in
${values(nodes)}
  esac
  case "$path" in
${rest(nodes)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _yield_sandbox yield-sandbox
`
}

/** Cases that follow the words of commands. */
function paths(nodes: readonly CompletionNode[]): string {
  return nodes
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => `      "${prefixed(path)}") path="${prefixed(path)}" ;;`)
    .join('\n')
}

/** A command's words, each after a space: that of the program is empty. */
function prefixed(path: readonly string[]): string {
  return path.map((word) => ` ${word}`).join('')
}

/** Cases for the value of a flag; without known values, bash's own completion of files takes over. */
function values(nodes: readonly CompletionNode[]): string {
  return nodes
    .flatMap(({ path, flags }) =>
      flags
        .filter(({ takesValue }) => takesValue)
        .map(({ word, values: known = [] }) => {
          const reply = known.length > 0 ? `COMPREPLY=($(compgen -W "${known.join(' ')}" -- "$word"))` : 'COMPREPLY=()'
          return `    "${prefixed(path)} ${word}") ${reply}; return ;;`
        }),
    )
    .join('\n')
}

function rest(nodes: readonly CompletionNode[]): string {
  return nodes
    .map(({ path, commands, flags, argument = [] }) => {
      const words = [...commands.map(({ word }) => word), ...argument, ...flags.map(({ word }) => word)]
      return `    "${prefixed(path)}") words="${words.join(' ')}" ;;`
    })
    .join('\n')
}
