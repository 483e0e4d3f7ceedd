import type { CompletedWord, CompletionNode } from './completion-tree.ts'

/** The completion script for zsh, for a file `_yield-sandbox` of its `fpath` or to be sourced. */
export function zshScript(nodes: readonly CompletionNode[]): string {
  return `#compdef yield-sandbox
# Completion of yield-sandbox for zsh: source <(yield-sandbox completion zsh)
_yield_sandbox() {
  local path_= i
  local -a described
  for ((i = 2; i < CURRENT; i++)); do
    # What follows -- is another command.
    if [[ $words[i] == -- ]]; then _normal; return; fi
    case "$path_ $words[i]" in
${nodes
  .filter(({ path }) => path.length > 0)
  .map(({ path }) => `      ${quoted(prefixed(path))}) path_=${quoted(prefixed(path))} ;;`)
  .join('\n')}
    esac
  done
  case "$path_ $words[CURRENT-1]" in
${nodes.flatMap(valuesOf).join('\n')}
  esac
  case "$path_" in
${nodes.map(wordsOf).join('\n')}
  esac
  _describe yield-sandbox described
  _files
}
compdef _yield_sandbox yield-sandbox
`
}

function prefixed(path: readonly string[]): string {
  return path.map((word) => ` ${word}`).join('')
}

function valuesOf({ path, flags }: CompletionNode): string[] {
  return flags
    .filter(({ takesValue }) => takesValue)
    .map(({ word, values = [] }) => {
      const reply = values.length > 0 ? `compadd -- ${values.join(' ')}` : '_files'
      return `    ${quoted(`${prefixed(path)} ${word}`)}) ${reply}; return ;;`
    })
}

function wordsOf({ path, commands, flags, argument = [] }: CompletionNode): string {
  const plain = argument.map((word) => ({ word, about: '' }))
  const all = [...commands, ...plain, ...flags].map(described)
  return `    ${quoted(prefixed(path))}) described=(${all.join(' ')}) ;;`
}

/** A word and its description as `_describe` reads them. */
function described({ word, about }: CompletedWord): string {
  return quoted(about === '' ? word : `${word}:${about.replaceAll(':', '\\:')}`)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
