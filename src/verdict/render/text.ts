import type { Level, OperationOutcome } from '../../oracle/outcome.ts'
import { plainText } from '../../render/safe-text.ts'
import { type TextTerms, Typesetter } from '../../render/typesetter.ts'
import type { Outcome } from '../finding.ts'
import type { ConfigurationCause, Covered, ExchangeLine, Report, ReportedFinding, Verdict } from '../report.ts'
import {
  BOOKS_LEVELS,
  byOutcome,
  durationInWords,
  exchangesOf,
  LEVEL_SIGNS,
  reportName,
  shortKey,
  shownOperations,
  tally,
} from './report-parts.ts'

/** Select Graphic Rendition of ECMA-48. */
const BOLD = '1'
const COLOURS: Record<Verdict | Outcome | Level, string> = {
  failed: '31',
  errored: '31',
  passed: '32',
  inconclusive: '33',
  needs_review: '33',
  not_exercised: '2',
  critical: '1;31',
  serious: '31',
  review: '33',
  warning: '33',
  note: '2',
  none: '2',
  ok: '32',
}

/** Maximum number of operations of each group without `verbose`. */
const SHOWN = 5

/**
 * Text for a terminal: failures, the money first, each with its fix; then the verdict. `verbose` adds the requests that show them, and
 * rules kept, rules not tested and the coverage. Command lines are never wrapped, so that they can be copied.
 */
export function renderReportText(reports: readonly Report[], terms: TextTerms = {}): string {
  const named = reports.length > 1
  return reports
    .map((report) => new ReportText(report, terms).lines(named).join('\n'))
    .join('\n\n')
    .concat('\n')
}

/**
 * Text beside a failed test: what went wrong, each with its requests and its fix, what became of the operations, and the verdict. Rules
 * that were kept or not tested are left out.
 */
export function renderFailures(report: Report, terms: Omit<TextTerms, 'verbose'> = {}): string {
  return new ReportText(report, terms, true).failures().join('\n')
}

/** The verdict of several reports in one, as the last line. */
export function verdictLine({ verdict, summary }: Pick<Report, 'verdict' | 'summary'>, terms: TextTerms = {}): string {
  return new Typesetter(terms).whole(`${COLOURS[verdict]};${BOLD}`, plainText(summary)).join('\n')
}

class ReportText {
  readonly #report: Report
  readonly #verbose: boolean
  /** True if a broken rule is shown with its requests. */
  readonly #detailed: boolean
  readonly #set: Typesetter

  constructor(report: Report, terms: TextTerms, detailed = terms.verbose ?? false) {
    this.#report = report
    this.#verbose = terms.verbose ?? false
    this.#detailed = detailed
    this.#set = new Typesetter(terms)
  }

  lines(named: boolean): string[] {
    const report = this.#report
    const name = plainText(reportName(report))
    const { failed } = byOutcome(report)
    const commands = again(failed).map((command) => `  ${'again'.padEnd(8)}  ${plainText(command)}`)
    return [
      ...(named ? [this.#set.paint(BOLD, name)] : []),
      ...this.#whatIsWrong(commands),
      ...(this.#verbose ? this.#everythingElse() : []),
      ...this.#reasons(shownOperations(report).grave),
      ...this.#set.wrap(
        '',
        `${tally(report)} (${name}, seed ${report.seed})${this.#verbose ? '' : '; --verbose lists them'}.`,
      ),
      ...this.#verdict(),
    ]
  }

  failures(): string[] {
    return [...this.#whatIsWrong([]), ...this.#verdict()]
  }

  #whatIsWrong(commands: readonly string[]): string[] {
    const report = this.#report
    const { failed, errored } = byOutcome(report)
    const { grave, mild, rest } = shownOperations(report)
    return [
      ...this.#operations(grave),
      ...report.configuration.flatMap((cause) => this.#cause(cause)),
      ...failed.flatMap((finding) => this.#broken(finding)),
      ...commands,
      ...this.#openQuestions(),
      ...errored.flatMap((finding) => this.#finding('!', finding)),
      ...this.#operations(mild),
      ...(rest === '' ? [] : this.#set.signed(LEVEL_SIGNS.ok, COLOURS.ok, `${rest}.`)),
      ...this.#books(),
    ]
  }

  #books(): string[] {
    const { books } = this.#report
    if (!books) return []
    const level = BOOKS_LEVELS[books.verdict]
    return this.#set.signed(LEVEL_SIGNS[level], COLOURS[level], books.sentence)
  }

  #verdict(): string[] {
    const { verdict, summary } = this.#report
    return this.#set.whole(`${COLOURS[verdict]};${BOLD}`, plainText(summary))
  }

  #operations(all: readonly OperationOutcome[]): string[] {
    const shown = this.#verbose ? all : all.slice(0, SHOWN)
    const lines = shown.flatMap(({ level, sentence, request_ids }) => [
      ...this.#set.signed(LEVEL_SIGNS[level], COLOURS[level], `${sentence} (${level})`),
      ...(this.#verbose ? this.#exchanges(request_ids) : []),
    ])
    return all.length > shown.length ? [...lines, `  … and ${all.length - shown.length} more`] : lines
  }

  #cause({ title, expected, came, fix }: ConfigurationCause): string[] {
    return [...this.#set.signed('!', COLOURS.failed, `${title}.`), ...this.#set.labelled({ expected, came, fix })]
  }

  #broken(finding: ReportedFinding): string[] {
    const { id, title, impact, explanation, consequence, accepted, expected, came, rule, fix } = finding
    const head = this.#set.signed('✗', COLOURS.failed, `${title} (${id}, ${impact})`)
    if (!this.#detailed) return [...head, ...this.#set.labelled({ accepted, fix })]
    return [
      ...head,
      ...this.#set.wrap('  ', plainText(`${explanation} ${consequence}`)),
      ...this.#exchanges(finding.request_ids),
      ...this.#set.labelled({ accepted, expected, came, rule, fix }),
    ]
  }

  /** Findings that need review: all with `verbose`, else those that affect the verdict and name other requests than the failures. */
  #openQuestions(): string[] {
    const { needs_review } = byOutcome(this.#report)
    const failed = requestsThatFailed(this.#report)
    const isSaid = ({ request_ids: [first, ...others] }: ReportedFinding) =>
      first !== undefined && [first, ...others].every((id) => failed.has(id))
    return needs_review
      .filter((one) => this.#verbose || ((one.impact === 'critical' || one.required) && !isSaid(one)))
      .flatMap((finding) => this.#finding('?', finding))
  }

  #finding(sign: string, { id, outcome, explanation }: ReportedFinding): string[] {
    const said = outcome === 'needs_review' ? `needs review. ${explanation}` : explanation
    return this.#set.signed(sign, COLOURS[outcome], `${id}: ${said}`)
  }

  /** Reasons for the verdict, except those shown above; a single reason is left to the last line. */
  #reasons(grave: readonly OperationOutcome[]): string[] {
    const { verdict, unmet, configuration, findings } = this.#report
    if (verdict !== 'failed' && unmet.length < 2) return []
    const { errored, needs_review } = byOutcome({ findings })
    const said = new Set([
      ...grave.map(({ sentence }) => sentence),
      ...configuration.map(({ title }) => `${title}.`),
      ...errored.map(({ id }) => `The judge of ${id} failed.`),
      ...needs_review.flatMap(({ id }) =>
        ['critical', 'required'].map((which) => `The ${which} finding ${id} needs review.`),
      ),
    ])
    return unmet.filter((reason) => !said.has(reason)).flatMap((reason) => this.#set.wrap('- ', plainText(reason)))
  }

  #exchanges(request_ids: readonly string[]): string[] {
    return exchangesOf(this.#report, request_ids).map((line) => `    ${exchangeText(line)}`)
  }

  #everythingElse(): string[] {
    const { passed, not_exercised } = byOutcome(this.#report)
    return [
      ...this.#chapter(
        'Kept',
        passed.flatMap((finding) => this.#finding('✓', finding)),
      ),
      ...this.#chapter('Not tested', missing(not_exercised)),
      ...this.#chapter(
        'Coverage',
        coverageLines(this.#report).flatMap((line) => this.#set.wrap('  ', line)),
      ),
      '',
    ]
  }

  #chapter(title: string, lines: readonly string[]): string[] {
    return lines.length > 0 ? ['', this.#set.paint(BOLD, title), ...lines] : []
  }
}

/** Ids of requests by which money went astray or a rule was broken. */
function requestsThatFailed({ operations, findings }: Report): ReadonlySet<string> {
  const astray = operations.filter(({ level }) => level === 'critical' || level === 'serious')
  const broken = findings.filter(({ outcome, accepted }) => outcome === 'failed' && accepted === undefined)
  return new Set([...astray, ...broken].flatMap(({ request_ids }) => request_ids))
}

/** The commands that show the broken rules again, each once. */
function again(broken: readonly ReportedFinding[]): string[] {
  return [...new Set(broken.flatMap(({ exercise_with }) => exercise_with ?? []))]
}

function exchangeText(line: ExchangeLine): string {
  const { at_ms, request, idempotency_key, answer, fault, request_id, shown_by } = line
  const key = idempotency_key === null ? '' : ` key ${shortKey(idempotency_key)}`
  const struck = fault === null ? '' : ` [${plainText(fault.split(':')[0] ?? '')}]`
  return `+${durationInWords(at_ms)} ${plainText(request)}${key} → ${plainText(answer)}${struck} (${plainText(request_id)}${shown_by === null ? '' : `, the total that ${plainText(shown_by)} showed`})`
}

/** Rules that were not tested, by the command that tests them. */
function missing(findings: readonly ReportedFinding[]): string[] {
  const commands = new Map<string, string[]>()
  for (const { id, exercise_with = '' } of findings) {
    const ids = commands.get(exercise_with)
    if (ids) ids.push(id)
    else commands.set(exercise_with, [id])
  }
  return [...commands].map(([command, ids]) => `  ${ids.join(', ')}: ${plainText(command)}`)
}

function coverageLines({ coverage: { operations, errors, faults } }: Report): string[] {
  const line = (what: string, covered: readonly Covered[]) => {
    const seen = covered.filter(({ exercised }) => exercised).map(({ id, count }) => `${id} ×${count}`)
    return `${seen.length} of ${covered.length} ${what}${seen.length > 0 ? `: ${seen.join(', ')}` : ''}`
  }
  return [line('operations', operations), line('error codes', errors), line('kinds of faults', faults)]
}
