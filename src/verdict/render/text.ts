import type { Outcome } from '../finding.ts'
import type { ConfigurationCause, Covered, ExchangeLine, Report, ReportedFinding, Verdict } from '../report.ts'
import { byOutcome, nameOf, tally } from './by-outcome.ts'
import { exchangesOf, inWords, shortKey } from './exchanges-of.ts'
import { plainText } from './plain-text.ts'

type Paint = (text: string) => string

/** Select Graphic Rendition of ECMA-48. */
const BOLD = 1
const FAINT = 2
const COLOURS: Record<Verdict | Outcome, number> = {
  failed: 31,
  errored: 31,
  passed: 32,
  inconclusive: 33,
  needs_review: 33,
  not_exercised: 2,
}

/** For a terminal: what is wrong in full, the rest a line each. `colour`: with colours and bold type. */
export function renderText(reports: readonly Report[], { colour = false }: { colour?: boolean } = {}): string {
  const painter =
    (code: number): Paint =>
    (text) =>
      colour ? `\u001b[${code}m${text}\u001b[0m` : text
  return reports.map((report) => reportText(report, painter)).join('\n')
}

type Painter = (code: number) => Paint

function reportText(report: Report, painter: Painter): string {
  const { failed, needs_review, errored, passed, not_exercised } = byOutcome(report)
  const bold = painter(BOLD)
  const of = (outcome: Outcome, sign: string) => (finding: ReportedFinding) =>
    `  ${painter(COLOURS[outcome])(sign)} ${finding.id}: ${plainText(finding.explanation)}`
  const chapter = (title: string, lines: readonly string[]) => (lines.length > 0 ? ['', bold(title), ...lines] : [])
  return [
    painter(COLOURS[report.verdict])(bold(plainText(report.summary))),
    `${tally(report)} (${plainText(nameOf(report))}, seed ${report.seed})`,
    ...(report.unmet.length > 1 ? report.unmet.map((reason) => `  - ${plainText(reason)}`) : []),
    ...chapter(
      'Set-up',
      report.configuration.flatMap((cause) => causeLines(cause, painter)),
    ),
    ...chapter(
      'Contradicted',
      failed.flatMap((finding) => failureLines(report, finding, painter)),
    ),
    ...chapter('Needs review', needs_review.map(of('needs_review', '?'))),
    ...chapter('Errored', errored.map(of('errored', '!'))),
    ...chapter('Proved', passed.map(of('passed', '✓'))),
    ...chapter('Not exercised', missing(not_exercised, painter(FAINT))),
    ...chapter('Coverage', coverageLines(report)),
    '',
  ].join('\n')
}

function causeLines({ title, expected, came, fix }: ConfigurationCause, painter: Painter): string[] {
  return [`  ${painter(COLOURS.failed)('!')} ${plainText(title)}`, ...labelled({ expected, came, fix })]
}

function failureLines(report: Report, finding: ReportedFinding, painter: Painter): string[] {
  const { id, title, impact, explanation, consequence, accepted, expected, came, rule, fix, exercise_with } = finding
  return [
    `  ${painter(COLOURS.failed)('✗')} ${painter(BOLD)(plainText(title))} (${id}, ${impact})`,
    `    ${plainText(explanation)} ${plainText(consequence)}`,
    ...exchangesOf(report, finding.request_ids).map((line) => `      ${exchangeText(line)}`),
    ...labelled({ accepted, expected, came, rule, fix, again: exercise_with }),
  ]
}

function labelled(lines: Record<string, string | undefined>): string[] {
  return Object.entries(lines).flatMap(([label, text]) =>
    text === undefined ? [] : [`    ${label.padEnd(8)}  ${plainText(text)}`],
  )
}

function exchangeText({ at_ms, request, idempotency_key, answer, fault, request_id }: ExchangeLine): string {
  const key = idempotency_key === null ? '' : ` key ${shortKey(idempotency_key)}`
  const struck = fault === null ? '' : ` [${plainText(fault.split(':')[0] ?? '')}]`
  return `+${inWords(at_ms)} ${plainText(request)}${key} → ${plainText(answer)}${struck} (${plainText(request_id)})`
}

/** What was not exercised, by the command that would do it: ordinary traffic first. */
function missing(findings: readonly ReportedFinding[], faint: Paint): string[] {
  const commands = new Map<string, string[]>()
  for (const { id, exercise_with = '' } of findings) {
    const ids = commands.get(exercise_with)
    if (ids) ids.push(id)
    else commands.set(exercise_with, [id])
  }
  return [...commands].map(([command, ids]) => `  ${ids.join(', ')}: ${faint(plainText(command))}`)
}

function coverageLines({ coverage: { operations, errors, faults } }: Report): string[] {
  const line = (what: string, covered: readonly Covered[]) => {
    const seen = covered.filter(({ exercised }) => exercised).map(({ id, count }) => `${id} ×${count}`)
    return `  ${seen.length} of ${covered.length} ${what}${seen.length > 0 ? `: ${seen.join(', ')}` : ''}`
  }
  return [line('operations', operations), line('error codes', errors), line('kinds of faults', faults)]
}
