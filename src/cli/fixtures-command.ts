import { existsSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Command, Option } from 'commander'
import { PROFILES } from '../domain/service-settings.ts'
import { USAGE } from '../exec/exit-code.ts'
import { OptionError } from '../option-error.ts'
import { DEFAULT_FIXTURES, readFixture } from '../read-fixture.ts'
import { FileError } from '../yaml-file/file-error.ts'
import { commandGroup, print } from './control-options.ts'
import { helpExamples } from './help-examples.ts'
import { choosing } from './parse-argument.ts'

/** The shipped fixture file of each profile; the keys that they name are beside them. */
const SHIPPED: Record<keyof typeof PROFILES, string> = {
  specification: 'default.yaml',
  'live-like': 'live-like.yaml',
}

/** `fixtures init|validate`: fixture files, without a sandbox. */
export function fixturesCommand(): Command {
  return commandGroup('fixtures', 'Work with fixture files.', [initCommand(), validateCommand()])
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
      const shipped = dirname(DEFAULT_FIXTURES)
      await copyAll(directory, [
        [join(shipped, SHIPPED[profile]), file],
        ...['schema.json', 'demo-keys'].map((name): [string, string] => [join(shipped, name), join(directory, name)]),
      ])
      print({ json }, { file }, [[`${file}: change it, and start with yield-sandbox --fixtures ${file}`]])
    })
}

/** Copies files and folders into a directory, or none if one of them exists already. Throws OptionError. */
async function copyAll(directory: string, copies: readonly [from: string, to: string][]): Promise<void> {
  const there = copies.find(([, to]) => existsSync(to))?.[1]
  if (there !== undefined) throw new OptionError(`${there} is there already; name another directory`)
  try {
    if (!existsSync(directory)) await mkdir(directory)
    for (const [from, to] of copies) await cp(from, to, { recursive: true, errorOnExist: true, force: false })
  } catch (error) {
    throw new OptionError(`${directory} cannot be written (${(error as Error).message}); name another directory`)
  }
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
