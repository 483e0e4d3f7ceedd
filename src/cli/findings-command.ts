import { Command } from 'commander'
import type { Finding } from '../verdict/finding.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import { findingInWords } from '../verdict/finding-in-words.ts'
import { print } from './control-options.ts'
import { helpExamples } from './help-examples.ts'
import { findingIds } from './parse-argument.ts'

/** `findings [id]`: the rules by which clients are judged. Needs no sandbox. */
export function findingsCommand(): Command {
  return new Command('findings')
    .description('List the rules that clients are judged by: id, impact, what is right. With an id: all about it.')
    .argument('[id]', 'one of them', (word) => findingIds(word))
    .option('--json', 'print JSON instead of lines')
    .addHelpText('after', helpExamples(['findings', 'findings retry-after']))
    .action(async ([wanted]: FindingId[] = [], flags: { json?: boolean }) => {
      // They are long, and few commands need them.
      const { FINDINGS } = await import('../verdict/findings/index.ts')
      const all: readonly Finding[] = FINDINGS
      const shown = all.filter(({ id }) => wanted === undefined || id === wanted)
      if (wanted === undefined) {
        const rows = shown.map(({ id, impact, title }) => [id, impact, title])
        print(flags, shown.map(findingInWords), rows, ['finding', 'impact', 'right'])
      } else print(flags, shown.map(findingInWords), shown.flatMap(linesOf), ['of', 'in words'])
    })
}

function linesOf(finding: Finding): string[][] {
  return Object.entries(findingInWords(finding)).map(([name, text]) => [name.replace('_', ' '), text])
}
