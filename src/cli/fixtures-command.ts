import { Command } from 'commander'
import { readFixture } from '../sandbox.ts'

/** `fixtures validate <file>`: says what is wrong with a fixture file, or that nothing is. */
export function fixturesCommand(): Command {
  const validate = new Command('validate')
    .description('Check a fixture file.')
    .argument('<file>', 'YAML or JSON file')
    .action(async (file: string) => {
      const { tenants } = await readFixture(file)
      process.stdout.write(`${file}: sound, ${tenants.length} tenants\n`)
    })
  return new Command('fixtures').description('Work with fixture files.').addCommand(validate.exitOverride())
}
