import { join } from 'node:path'
import { Command, Option } from 'commander'
import { PROFILES } from '../domain/service-settings.ts'
import { readFixture } from '../read-fixture.ts'
import { commandGroup, print } from './control-options.ts'
import { besideFixture, copyAll, SHIPPED_FIXTURES } from './copy-all.ts'
import { fixtureFromSnapshot } from './fixture-from-snapshot.ts'

/** The shipped fixture file of each profile; the keys that they name are beside them. */
const SHIPPED: Record<keyof typeof PROFILES, string> = {
  specification: 'default.yaml',
  'live-like': 'live-like.yaml',
}

/** `fixtures init|validate|from-snapshot`: fixture files, without a sandbox. */
export function fixturesCommand(): Command {
  return commandGroup('fixtures', 'Work with fixture files.', [initCommand(), validateCommand(), fromSnapshotCommand()])
}

function initCommand(): Command {
  return new Command('init')
    .description('Copy a shipped fixture file, the keys it names and its schema, to be changed.')
    .argument('[directory]', 'where to; made if it is not there', 'fixtures')
    .addOption(
      new Option('--profile <name>', 'as the specification says, or as live services are documented')
        .choices(Object.keys(PROFILES))
        .default('specification' satisfies keyof typeof PROFILES),
    )
    .addHelpText('after', '\nExample:\n  yield-sandbox fixtures init && yield-sandbox --fixtures fixtures/sandbox.yaml')
    .exitOverride()
    .action(async (directory: string, { profile }: { profile: keyof typeof PROFILES }) => {
      const file = join(directory, 'sandbox.yaml')
      await copyAll(directory, [[join(SHIPPED_FIXTURES, SHIPPED[profile]), file], ...besideFixture(directory)])
      process.stdout.write(`${file}: change it, and start with yield-sandbox --fixtures ${file}\n`)
    })
}

/** `fixtures validate`: reports the faults of a fixture file, or that it has none. */
function validateCommand(): Command {
  return new Command('validate')
    .description('Check a fixture file.')
    .argument('<file>', 'YAML or JSON file')
    .exitOverride()
    .action(async (file: string) => {
      const { tenants } = await readFixture(file)
      process.stdout.write(`${file}: sound, ${tenants.length} tenants\n`)
    })
}

/** `fixtures from-snapshot`: makes a fixture file that seeds what a saved state holds, as far as a fixture file can. */
function fromSnapshotCommand(): Command {
  return new Command('from-snapshot')
    .description('Make a fixture file from a saved state: tenants, pools, end users, portfolios with their principal.')
    .argument('<file>', 'a file that snapshot save wrote')
    .argument('[directory]', 'where to; made if it is not there', 'fixtures')
    .option('--json', 'print JSON instead of tab-separated lines')
    .addHelpText('after', '\nExample:\n  yield-sandbox fixtures from-snapshot report-42.snapshot report-42')
    .exitOverride()
    .action(async (file: string, directory: string, flags: { json?: boolean }) => {
      const made = await fixtureFromSnapshot(file, directory)
      const counts = `${made.tenants} tenants, ${made.end_users} end users, ${made.portfolios} portfolios`
      print(flags, made, [[made.file, counts], ...made.left_out.map((line) => ['left out', line])])
    })
}
