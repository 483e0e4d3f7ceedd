import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { writing } from '../exec/report-files.ts'
import { OptionError } from '../option-error.ts'
import { type CiFile, ciFile } from '../project/ci-file.ts'
import { npmScript, SCRIPT, scriptLine, withScript } from '../project/npm-script.ts'
import { type ProjectScan, scanProject } from '../project/scan-project.ts'
import { shorten } from '../support/foreign-text.ts'
import { print } from './control-options.ts'
import { helpExamples } from './help-examples.ts'

interface InitFlags {
  dryRun?: boolean
  write?: boolean
  json?: boolean
}

/** A file, and what became of it. */
interface Written {
  path: string
  state: 'written' | 'there already' | 'would be written'
}

/** `init`: finds out how a project is tested, and writes what lets it be tested against a sandbox. Asks nothing, overwrites nothing. */
export function initCommand(): Command {
  return new Command('init')
    .description(
      'Set a project up: finds its test runner and the names of its environment, and writes a CI file with them. Overwrites nothing.',
    )
    .argument('[directory]', "the project's folder", '.')
    .option('--dry-run', 'only say what would be written')
    .option('--write', `add the script "${SCRIPT}" to package.json as well`)
    .option('--json', 'print JSON')
    .addHelpText('after', helpExamples(['init', 'init --dry-run', 'init ./app --write --json']))
    .action(async (directory: string, flags: InitFlags) => {
      if (!existsSync(directory))
        throw new OptionError(`there is no folder ${shorten(directory)}; name that of your project`)
      const scan = scanProject(directory)
      const file = ciFile(directory, scan)
      const script = npmScript(scan)
      const files = [await writeNew(directory, file, flags), ...(await addScript(directory, script, flags))]
      const next = nextSteps(scan, { file, files, script })
      const { runner, mappings, ci } = scan
      const found = {
        runner: runner.name,
        command: runner.command,
        ci,
        mappings,
        script: { [SCRIPT]: script },
        files,
        next,
      }
      print(flags, found, initLines(scan, files, next))
    })
}

async function writeNew(directory: string, { path, text }: CiFile, { dryRun }: InitFlags): Promise<Written> {
  const place = join(directory, path)
  if (existsSync(place)) return { path, state: 'there already' }
  if (dryRun) return { path, state: 'would be written' }
  // `wx`: somebody else may have made it since.
  await writing(place, () => makeFile(place, text), 'init:')
  return { path, state: 'written' }
}

async function makeFile(place: string, text: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true })
  await writeFile(place, text, { flag: 'wx' })
}

/** Adds the script to package.json, if that is wanted and there is one without it. */
async function addScript(directory: string, script: string, { write, dryRun }: InitFlags): Promise<Written[]> {
  const path = 'package.json'
  const place = join(directory, path)
  if (!write || !existsSync(place)) return []
  const changed = withScript(readFileSync(place, 'utf8'), script)
  if (changed === undefined) return [{ path, state: 'there already' }]
  if (dryRun) return [{ path, state: 'would be written' }]
  await writing(place, () => writeFile(place, changed), 'init:')
  return [{ path, state: 'written' }]
}

interface Outcome {
  file: CiFile
  files: readonly Written[]
  script: string
}

/** What is left to a person, a sentence each. */
function nextSteps({ runner, mappings, installed }: ProjectScan, { file, files, script }: Outcome): string[] {
  const inPackage = files.some(({ path, state }) => path === 'package.json' && state !== 'would be written')
  return [
    ...(runner.name === 'unknown'
      ? [`no test runner was found: put your command in place of "${runner.command}"`]
      : []),
    ...(mappings.every(({ certain }) => certain) ? [] : ['add the names after # above that are of this service']),
    ...(mappings.length === 0
      ? [
          'no name of an address or a client was found: let your app read YIELD_BASE_URL, YIELD_CLIENT_ID, … (docs/exec.md)',
        ]
      : []),
    ...(installed ? [] : ['install it: npm install --save-dev yield-sandbox']),
    inPackage
      ? `run your tests against a sandbox: npm run ${SCRIPT}`
      : `run your tests against a sandbox: npx ${script}`,
    ...(inPackage ? [] : [`or add to the scripts of package.json (--write does it): ${scriptLine(script)}`]),
    ...(file.include === undefined ? [] : [file.include]),
  ]
}

function initLines(
  { runner, mappings, ci }: ProjectScan,
  files: readonly Written[],
  next: readonly string[],
): string[][] {
  return [
    [`tests: ${runner.name}, by ${runner.command}`],
    [`CI: ${ci === 'gitlab' ? 'GitLab' : 'GitHub Actions'}`],
    ...mappings.map(({ theirs, ours, certain }) => [`${certain ? '' : '# '}--env ${theirs}=${ours}`]),
    ...files.map(({ path, state }) => [`${path}: ${state}`]),
    ...next.map((step, i) => [`${i + 1}. ${step}`]),
  ]
}
