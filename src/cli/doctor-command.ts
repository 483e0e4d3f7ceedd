import { Command } from 'commander'
import { OptionError } from '../option-error.ts'
import { print } from './control-options.ts'
import { createLog } from './log.ts'

/** `doctor`: reports what is whole and what is damaged in a data directory that no sandbox uses. Fails if anything is damaged. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Read a data directory without starting it: what is whole, damaged, would be lost. Fails when damaged.',
    )
    .option('--data-dir <dir>', 'the directory; it stays as it is')
    .option('--salvage <copy>', 'copy there what is of one moment, up to the last whole commit')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  yield-sandbox doctor --data-dir ./sandbox-data --salvage ./salvaged')
    .action(async ({ dataDir, salvage, json = false }: { dataDir?: string; salvage?: string; json?: boolean }) => {
      if (dataDir === undefined) throw new OptionError('doctor needs --data-dir <dir>, the directory to read')
      const { examine } = await import('../sandbox/doctor.ts') // no other command needs it
      const found = await examine(dataDir, { log: createLog('error'), ...(salvage !== undefined && { salvage }) })
      print(
        { json },
        found,
        found.map(({ file, state, detail }) => [state, file, detail]),
      )
      const failed = found.some(({ state }) => (salvage === undefined ? state === 'damaged' : state === 'lost'))
      if (failed && !found.some(({ state, file }) => state === 'salvaged' && file === 'directory')) process.exitCode = 1
    })
}
