import { existsSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Command, Option } from 'commander'
import { PROFILES } from '../domain/service-settings.ts'
import { OptionError } from '../option-error.ts'
import { DEFAULT_FIXTURES, readFixture } from '../read-fixture.ts'
import { commandGroup } from './control-options.ts'

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
      new Option('--profile <name>', 'as the specification says, or as live services are documented')
        .choices(Object.keys(PROFILES))
        .default('specification' satisfies keyof typeof PROFILES),
    )
    .addHelpText('after', '\nExample:\n  yield-sandbox fixtures init && yield-sandbox --fixtures fixtures/sandbox.yaml')
    .exitOverride()
    .action(async (directory: string, { profile }: { profile: keyof typeof PROFILES }) => {
      const file = join(directory, 'sandbox.yaml')
      const shipped = dirname(DEFAULT_FIXTURES)
      await copyAll(directory, [
        [join(shipped, SHIPPED[profile]), file],
        ...['schema.json', 'demo-keys'].map((name): [string, string] => [join(shipped, name), join(directory, name)]),
      ])
      process.stdout.write(`${file}: change it, and start with yield-sandbox --fixtures ${file}\n`)
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
    .exitOverride()
    .action(async (file: string) => {
      const { tenants } = await readFixture(file)
      process.stdout.write(`${file}: sound, ${tenants.length} tenants\n`)
    })
}
