import { Argument, Command } from 'commander'
import { bashScript } from '../completion/bash-script.ts'
import { type CompletionNode, completionTree, type KnownValues } from '../completion/completion-tree.ts'
import { fishScript } from '../completion/fish-script.ts'
import { zshScript } from '../completion/zsh-script.ts'
import { OPERATIONS } from '../domain/operations.ts'
import { FINDING_IDS } from '../verdict/finding-ids.ts'
import { print } from './control-options.ts'
import { helpExamples } from './help-examples.ts'

const SCRIPTS: Record<string, (nodes: readonly CompletionNode[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** `completion <shell>`: prints the script that completes commands, flags and their values, made from the commands themselves. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print the completion script of a shell: commands, flags, names of scenarios, faults and findings.')
    .addArgument(new Argument('<shell>', 'which one').choices(Object.keys(SCRIPTS)))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      helpExamples(['completion bash > ~/.bash_completion', 'completion fish | source', 'completion zsh']),
    )
    .action(async (shell: string, flags: { json?: boolean }, command: Command) => {
      const script = SCRIPTS[shell]?.(completionTree(programOver(command), await knownValues())) ?? ''
      if (flags.json) print(flags, { shell, script }, [])
      else process.stdout.write(script)
    })
}

function programOver(command: Command): Command {
  return command.parent ?? command
}

/** Values that are words of the sandbox and not of the command line. */
async function knownValues(): Promise<KnownValues> {
  const [{ KINDS }, { shippedScenarios }, { catalogue }] = await Promise.all([
    import('../faults/kinds/index.ts'),
    import('../scenarios/find-scenario.ts'),
    import('../catalogue/catalogue.ts'),
  ])
  const kinds = KINDS.map(({ kind }) => kind)
  const scenarios = (await shippedScenarios()).map(({ name }) => name)
  const ids = [...new Set((await catalogue()).map(({ id }) => id))]
  return {
    flags: {
      '--scenario': ['all', ...scenarios],
      '--fault': kinds,
      '--faults': kinds,
      '--only': OPERATIONS,
      '--operation': OPERATIONS,
      '--require': FINDING_IDS,
    },
    arguments: { 'faults add': kinds, 'scenario run': scenarios, findings: FINDING_IDS, explain: ids },
  }
}
