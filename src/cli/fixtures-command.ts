import { join } from 'node:path'
import { Command, Option } from 'commander'
import { PROFILES } from '../domain/service-settings.ts'
import { USAGE } from '../exec/exit-code.ts'
import { readFixture } from '../read-fixture.ts'
import { FileError } from '../yaml-file/file-error.ts'
import { commandGroup, print } from './control-options.ts'
import { besideFixture, copyAll, SHIPPED_FIXTURES } from './copy-all.ts'
import { fixtureFromSnapshot } from './fixture-from-snapshot.ts'
import { helpExamples } from './help-examples.ts'
import { choosing } from './parse-argument.ts'

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
      choosing(
        new Option('--profile <name>', 'as the specification says, or as live services are documented').default(
          'specification' satisfies keyof typeof PROFILES,
        ),
        Object.keys(PROFILES),
      ),
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      helpExamples([
        'fixtures init && yield-sandbox --fixtures fixtures/sandbox.yaml',
        'fixtures init ./like-live --profile live-like',
      ]),
    )
    .exitOverride()
    .action(async (directory: string, { profile, json }: { profile: keyof typeof PROFILES; json?: boolean }) => {
      const file = join(directory, 'sandbox.yaml')
      await copyAll(directory, [[join(SHIPPED_FIXTURES, SHIPPED[profile]), file], ...besideFixture(directory)])
      print({ json }, { file }, [[`${file}: change it, and start with yield-sandbox --fixtures ${file}`]])
    })
}

/** `fixtures validate`: reports the faults of a fixture file, or that it has none. */
function validateCommand(): Command {
  return new Command('validate')
    .description('Check a fixture file.')
    .argument('<file>', 'YAML or JSON file')
    .option('--json', 'print JSON, of a file with faults as well')
    .addHelpText('after', helpExamples(['fixtures validate fixtures/sandbox.yaml']))
    .exitOverride()
    .action(async (file: string, flags: { json?: boolean }) => {
      try {
        const { tenants } = await readFixture(file)
        const found = { file, sound: true, tenants: tenants.length, issues: [] }
        print(flags, found, [[`${file}: sound, ${tenants.length} tenants`]])
      } catch (error) {
        if (!flags.json || !(error instanceof FileError)) throw error
        print(flags, { file, sound: false, tenants: null, issues: error.issues }, [])
        process.exitCode = USAGE
      }
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
