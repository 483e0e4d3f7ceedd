import { type CommandEnd, type CommandTerms, runCommand } from './run-command.ts'

/** Runs `--before` by the shell. Resolves to how it ended when it failed, else to undefined. */
export async function runBefore(before: string | undefined, terms: CommandTerms): Promise<CommandEnd | undefined> {
  if (before === undefined) return undefined
  const end = await runCommand(['sh', '-c', before], terms)
  return end.code === 0 && !end.timedOut ? undefined : end
}
