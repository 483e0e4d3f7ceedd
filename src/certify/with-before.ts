/** One command that does both, on one line: `before` by the shell, as before each run, and then the command itself. */
export function withBefore(before: string | undefined, command: readonly string[]): readonly string[] {
  return before === undefined ? command : ['sh', '-c', '(eval "$1") && shift && exec "$@"', 'sh', before, ...command]
}
