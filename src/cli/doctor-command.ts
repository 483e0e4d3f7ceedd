import { Command } from 'commander'
import type { MachineCheck } from '../machine/machine-check.ts'
import { OptionError } from '../option-error.ts'
import { visibleText } from '../support/foreign-text.ts'
import { print, urlOption } from './control-options.ts'
import { helpExamples } from './help-examples.ts'
import { createLog } from './log.ts'
import { progress } from './progress.ts'
import { painterFor } from './screen-of.ts'
import { startFlag } from './start-flags.ts'

interface DoctorFlags {
  dataDir?: string
  salvage?: string
  port?: number
  fixtures?: string
  url: string
  json?: boolean
}

const EXAMPLES = [
  'doctor',
  'doctor --port 4011 --fixtures my-fixtures.yaml --json',
  'doctor --data-dir ./sandbox-data --salvage ./salvaged',
]

/** Port of a start without flags. */
const PORT = 4010

/**
 * `doctor`: says what of this machine would keep a sandbox from working, with the fix; of a data directory that no sandbox uses, what is
 * whole and what is damaged. Fails if anything is broken or damaged.
 */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Examine this machine, or with --data-dir a data directory: what is broken, and the fix. Fails when something is.',
    )
    .option(
      '--data-dir <dir>',
      'a data directory to read instead: what is whole, damaged, would be lost; it stays as it is',
    )
    .option('--salvage <copy>', 'copy there what is of one moment, up to the last whole commit')
    .addOption(startFlag('port', `the port to look at (default: ${PORT})`))
    .addOption(startFlag('fixtures'))
    .addOption(urlOption())
    .option('--json', 'print JSON')
    .addHelpText('after', helpExamples(EXAMPLES))
    .action(async (flags: DoctorFlags) => {
      if (flags.dataDir !== undefined) return readDirectory(flags.dataDir, flags)
      if (flags.salvage !== undefined)
        throw new OptionError('--salvage goes with --data-dir <dir>, the directory to read')
      return examineThisMachine(flags)
    })
}

const SIGNS: Record<MachineCheck['state'], [sign: string, sgr: string]> = {
  good: ['✓', '32'],
  note: ['!', '33'],
  broken: ['✗', '31'],
}

async function examineThisMachine(flags: DoctorFlags): Promise<void> {
  const { examineMachine } = await import('../machine/examine-machine.ts') // no other command needs it
  const { port = PORT, fixtures, url } = flags
  const checks = await examineMachine({ port, fixtures, url, env: process.env })
  progress.end()
  const broken = checks.filter(({ state }) => state === 'broken').length
  if (flags.json) print(flags, { ok: broken === 0, checks }, [])
  else process.stdout.write(checks.map(checkLines).join(''))
  if (broken > 0) process.exitCode = 1
}

function checkLines({ id, state, detail, fix }: MachineCheck): string {
  const [sign, sgr] = SIGNS[state]
  const paint = painterFor(process.stdout)
  const name = id.replace('_', ' ').padEnd(13)
  const more = fix === undefined ? '' : `${' '.repeat(15)}Fix: ${visibleText(fix)}\n`
  return `${paint(sgr, sign)} ${name}${visibleText(detail)}\n${more}`
}

async function readDirectory(dataDir: string, { salvage, json = false }: DoctorFlags): Promise<void> {
  const { examine } = await import('../sandbox/doctor.ts') // no other command needs it
  const found = await examine(dataDir, { log: createLog('error'), ...(salvage !== undefined && { salvage }) })
  progress.end()
  const rows = found.map(({ file, state, detail }) => [state, file, detail])
  print({ json }, found, rows, ['state', 'file', 'what'])
  const failed = found.some(({ state }) => (salvage === undefined ? state === 'damaged' : state === 'lost'))
  if (failed && !found.some(({ state, file }) => state === 'salvaged' && file === 'directory')) process.exitCode = 1
}
