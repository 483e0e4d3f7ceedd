import { Command } from 'commander'
import { OptionError } from '../option-error.ts'
import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'
import { print } from './control-options.ts'
import { helpExamples } from './help-examples.ts'

/** `explain <id>`: a word that the sandbox uses, from the catalogues. Needs no sandbox. */
export function explainCommand(): Command {
  return new Command('explain')
    .description('Explain an error code, a finding, a kind of fault, a scenario, an outcome, an exit or a status code.')
    .argument('<id>', 'the word, as an answer, a report or a shell shows it')
    .option('--json', 'print JSON instead of lines')
    .addHelpText('after', helpExamples(['explain rate_limited', 'explain retry-after', 'explain 3', 'explain 422']))
    .action(async (id: string, flags: { json?: boolean }) => {
      // The catalogues are long, and no other command needs them all.
      const { catalogue } = await import('../catalogue/catalogue.ts')
      const all = await catalogue()
      const found = all.filter((entry) => entry.id === id)
      if (found.length === 0) throw unknown(id, [...new Set(all.map((entry) => entry.id))])
      const rows = found.flatMap(({ id: name, is, says }) => [[is, name], ...says])
      print(flags, found, rows, ['of', 'in words'])
    })
}

function unknown(id: string, ids: readonly string[]): OptionError {
  // A code with dashes, or a scenario with underscores, is as close as it gets.
  const [other] = [id.replaceAll('-', '_'), id.replaceAll('_', '-')].filter((one) => ids.includes(one))
  const fix = other === undefined ? suggest(id, ids) : `did you mean "${other}"?`
  const all = 'yield-sandbox findings, faults kinds and scenario list name them, and docs/errors.md the error codes'
  return new OptionError(`there is nothing called "${shorten(id)}": ${fix.startsWith('did') ? fix : all}`)
}
