/** One command that does both: what is to be run by the shell before each run, and the command itself. */
export function withBefore(before: string | undefined, command: readonly string[]): readonly string[] {
  return before === undefined ? command : ['sh', '-c', `(${before}\n) && exec "$@"`, 'sh', ...command]
}
