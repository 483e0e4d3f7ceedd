import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { FindingId } from '../control/contract.ts'
import { trustingFetch } from '../control/trusting-fetch.ts'
import { writeOwn, writing } from '../exec/report-files.ts'
import { formOfFile, REPORT_FORM_NAMES, REPORT_FORMS, type Report, type ReportForm } from '../verdict/report.ts'
import { type ControlFlags, clientOf, controlCommand } from './control-options.ts'
import { openInBrowser } from './open-in-browser.ts'
import { choosing, findingIds } from './parse-argument.ts'
import { say } from './run-flags.ts'
import { screenOf } from './screen-of.ts'

interface ReportFlags extends ControlFlags {
  format: ReportForm
  output?: string[]
  require?: FindingId[]
  running?: boolean
  allowInconclusive?: boolean
  verbose?: boolean
  open?: boolean
}

/** Exit codes of a verdict. */
const EXIT_CODES: Record<Report['verdict'], number> = { passed: 0, failed: 3, inconclusive: 4 }

/** `report`: the sandbox's report on its clients. */
export function reportCommand(): Command {
  return controlCommand(
    'report',
    'Say whether the client was right: 0 passed, 3 failed, 4 inconclusive. Everything counts since the start or the last reset.',
    [
      'report',
      'report --require retry-after --require client-timeout',
      'report --output report.html --output junit.xml',
      'report --running --format markdown',
      'report --open',
    ],
  )
    .addOption(choosing(new Option('--format <form>', 'the form to print').default('text'), REPORT_FORM_NAMES))
    .option(
      '--output <file>',
      'also write it, in the form of its suffix (.html, .xml, .sarif, …); may be repeated',
      file,
    )
    .option('--require <finding>', 'a finding that must be passed; may be repeated', findingIds)
    .option('--running', 'the client still runs: what it has not done yet, it may do')
    .option('--allow-inconclusive', 'exit 0 when the verdict is inconclusive')
    .option('--open', 'open it in the browser: the file of --output, else the inspector')
    .option('--verbose', 'show everything, not only what is wrong')
    .action(async (flags: ReportFlags) => {
      const report = await clientOf(flags).report({ require: flags.require, ended: !flags.running })
      for (const path of flags.output ?? []) await write(path, report)
      process.stdout.write(await printed(flags, report))
      if (flags.open) await open(flags, report)
      const allowed = report.verdict === 'inconclusive' && flags.allowInconclusive
      process.exitCode = allowed ? 0 : EXIT_CODES[report.verdict]
    })
}

async function printed({ json, format, verbose = false }: ReportFlags, report: Report): Promise<string> {
  const form = json ? 'json' : format
  if (form !== 'text') return rendered(form, report)
  const { renderReportText } = await import('../verdict/render/text.ts')
  return renderReportText([report], { ...screenOf(process.stdout), verbose })
}

/** Renders a report. The renderers are loaded here because no other form of output needs them. */
async function rendered(form: ReportForm, report: Report): Promise<string> {
  const { renderReports } = await import('../verdict/render/render-reports.ts')
  return renderReports(form, [report])
}

/** Opens the page of the report: a page that was written, the inspector, or where that is switched off a page in a temporary file. */
async function open(flags: ReportFlags, report: Report): Promise<void> {
  const written = flags.output?.find((path) => formOfFile(path) === 'html')
  const inspector = written === undefined ? await inspectorAt(flags) : undefined
  const address = inspector ?? pathToFileURL(written ?? (await writeTemporary(report))).href
  const isOpen = await openInBrowser(address)
  say(isOpen ? `opened ${address}` : `there is no browser to open here; open ${address}`)
}

/** Address of the inspector's verdict; undefined if the sandbox has none. */
async function inspectorAt({ url, ca, namespace }: ReportFlags): Promise<string | undefined> {
  const send = ca === undefined ? fetch : trustingFetch(ca)
  const page = await send(`${url}/`, { headers: { accept: 'text/html' }, redirect: 'manual' })
  if (page.status !== 200) return undefined
  return `${url}/#verdict${namespace === undefined ? '' : `?${new URLSearchParams({ namespace })}`}`
}

async function writeTemporary(report: Report): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'yield-sandbox-report-')), 'report.html')
  await write(path, report)
  return path
}

function file(path: string, earlier: string[] = []): string[] {
  if (formOfFile(path) !== undefined) return [...earlier, path]
  const suffixes = REPORT_FORM_NAMES.map((name) => REPORT_FORMS[name].suffixes[0])
  throw new InvalidArgumentError(`Its suffix must be one of ${suffixes.join(', ')}.`)
}

async function write(path: string, report: Report): Promise<void> {
  const text = await rendered(formOfFile(path) ?? 'json', report)
  await writing(path, () => writeOwn(path, text), '--output')
}
