import { Command } from 'commander'
import type { Finding } from '../verdict/finding.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import { print } from './control-options.ts'
import { findingIds } from './parse-argument.ts'

/** `findings [id]`: the rules by which clients are judged. Needs no sandbox. */
export function findingsCommand(): Command {
  return new Command('findings')
    .description('List the rules that clients are judged by: id, impact, what is right. With an id: all about it.')
    .argument('[id]', 'one of them', (word) => findingIds(word))
    .option('--json', 'print JSON instead of tab-separated lines')
    .addHelpText('after', '\nExamples:\n  yield-sandbox findings\n  yield-sandbox findings retry-after')
    .action(async ([wanted]: FindingId[] = [], flags: { json?: boolean }) => {
      // They are long, and few commands need them.
      const { FINDINGS } = await import('../verdict/findings/index.ts')
      const all: readonly Finding[] = FINDINGS
      const shown = all.filter(({ id }) => wanted === undefined || id === wanted)
      const rows =
        wanted === undefined ? shown.map(({ id, impact, title }) => [id, impact, title]) : shown.flatMap(linesOf)
      print(flags, shown.map(wordsOf), rows)
    })
}

/** The texts of a finding, without its judge. */
function wordsOf({ id, impact, title, failureTitle, rule, consequence, situation, fix, exerciseWith }: Finding) {
  const exercise_with = `yield-sandbox exec ${exerciseWith} -- <your test command>`.replace('  ', ' ')
  return {
    id,
    impact,
    right: title,
    wrong: failureTitle,
    rule,
    consequence,
    judged_after: situation,
    exercise_with,
    fix,
  }
}

function linesOf(finding: Finding): string[][] {
  return Object.entries(wordsOf(finding)).map(([name, text]) => [name.replace('_', ' '), text])
}
