import { code, markdownEscaped } from '../../render/safe-text.ts'
import { type ConfigurationCause, type Covered, mergedReport, type Report, type ReportedFinding } from '../report.ts'
import {
  BOOKS_LEVELS,
  byOutcome,
  durationInWords,
  exchangesOf,
  LEVEL_SIGNS,
  RULE_SIGNS,
  reportName,
  rulesTable,
  shortKey,
  shownOperations,
  tally,
  VERDICT_SIGNS,
} from './report-parts.ts'

/** GitHub's Markdown, for the summary of a job or a comment: failures in full, the rest folded. */
export function renderMarkdown(reports: readonly Report[]): string {
  const overview = reports.length > 1 ? overviewOf(reports) : []
  return `${[...overview, ...reports.map(section)]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

function overviewOf(reports: readonly Report[]): string[] {
  const sum = mergedReport(reports)
  return [
    '# yield-sandbox',
    '',
    `${VERDICT_SIGNS[sum.verdict]} ${markdownEscaped(sum.summary)} **${tally(sum)}**`,
    '',
    table(reports),
    '',
    ...folded('Rules by scenario', rules(reports)),
  ]
}

/** Every rule that was tested, by scenario. */
function rules(reports: readonly Report[]): string[] {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rows = rulesTable(reports).map(({ id, outcomes }) =>
    row([
      code(id),
      ...outcomes.map((outcome) => (outcome === undefined ? '' : markdownEscaped(RULE_SIGNS[outcome].sign))),
    ]),
  )
  if (rows.length === 0) return []
  return [
    row(['rule', ...reports.map((report) => markdownEscaped(reportName(report)))]),
    row(['---', ...reports.map(() => ':-:')]),
    ...rows,
  ]
}

function table(reports: readonly Report[]): string {
  const rows = reports.map(
    (report) =>
      `| ${markdownEscaped(reportName(report))} | ${VERDICT_SIGNS[report.verdict]} ${report.verdict} | ${report.proved} | ${report.contradicted} | ${report.unproved} |`,
  )
  return ['| scenario | verdict | kept | broken | not tested |', '| --- | --- | --: | --: | --: |', ...rows].join('\n')
}

function section(report: Report): string {
  const { passed, failed, needs_review, errored, not_exercised } = byOutcome(report)
  return [
    `## ${VERDICT_SIGNS[report.verdict]} ${markdownEscaped(report.summary)}`,
    '',
    `**${tally(report)}**, ${markdownEscaped(reportName(report))}, seed ${report.seed}, yield-sandbox ${markdownEscaped(report.version)}`,
    '',
    ...(report.unmet.length > 1 ? [...report.unmet.map((reason) => `- ${markdownEscaped(reason)}`), ''] : []),
    ...chapter('What became of the money', operationLines(report)),
    ...chapter('Set-up', report.configuration.map(causeOf)),
    ...chapter(
      'Broken',
      failed.map((finding) => failureLines(report, finding)),
    ),
    ...chapter(
      'Needs review',
      needs_review.map(
        (finding) =>
          `- **${markdownEscaped(finding.title)}** (\`${finding.id}\`): ${markdownEscaped(finding.explanation)}`,
      ),
    ),
    ...chapter(
      'Errored',
      errored.map((finding) => `- \`${finding.id}\`: ${markdownEscaped(finding.explanation)}`),
    ),
    ...folded(
      'Kept',
      passed.map(
        (finding) => `- ${markdownEscaped(finding.title)} (\`${finding.id}\`): ${markdownEscaped(finding.explanation)}`,
      ),
      passed.length,
    ),
    ...folded(
      'Not tested',
      not_exercised.map(
        (finding) => `- ${markdownEscaped(finding.title)} (\`${finding.id}\`): ${code(finding.exercise_with ?? '')}`,
      ),
      not_exercised.length,
    ),
    ...folded('Coverage', coverage(report)),
  ].join('\n')
}

function operationLines(report: Report): string[] {
  const { books } = report
  const { grave, mild, rest } = shownOperations(report)
  return [
    ...[...grave, ...mild].map(
      ({ level, sentence }) => `- ${LEVEL_SIGNS[level]} **${level}** ${markdownEscaped(sentence)}`,
    ),
    ...(rest === '' ? [] : [`- ${LEVEL_SIGNS.ok} ${markdownEscaped(rest)}`]),
    ...(books ? [`- ${LEVEL_SIGNS[BOOKS_LEVELS[books.verdict]]} ${markdownEscaped(books.sentence)}`] : []),
  ]
}

function chapter(title: string, lines: readonly string[]): string[] {
  return lines.length > 0 ? [`### ${title}`, '', ...lines, ''] : []
}

function folded(title: string, lines: readonly string[], count?: number): string[] {
  if (lines.length === 0) return []
  return [
    `<details><summary>${title}${count === undefined ? '' : ` (${count})`}</summary>`,
    '',
    ...lines,
    '',
    '</details>',
    '',
  ]
}

function causeOf({ title, expected, came, fix }: ConfigurationCause): string {
  return `- **${markdownEscaped(title)}.** Expected ${code(expected)}, came ${code(came)}. ${markdownEscaped(fix)}`
}

function failureLines(report: Report, finding: ReportedFinding): string {
  const { id, title, impact, explanation, consequence, accepted, expected, came, rule, fix, exercise_with } = finding
  const exchanges = exchangesOf(report, finding.request_ids).map(
    ({ request_id, request, answer, at_ms, idempotency_key, shown_by }) =>
      `| ${durationInWords(at_ms)} | ${markdownEscaped(request)} | ${idempotency_key === null ? '' : markdownEscaped(shortKey(idempotency_key))} | ${markdownEscaped(answer)} | ${markdownEscaped(request_id)}${shown_by === null ? '' : `, the total that ${markdownEscaped(shown_by)} showed`} |`,
  )
  return [
    `#### ${markdownEscaped(title)}`,
    '',
    `\`${id}\`, ${impact}. ${markdownEscaped(explanation)} ${markdownEscaped(consequence)}`,
    '',
    ...(accepted === undefined ? [] : [`- **Accepted by the baseline:** ${markdownEscaped(accepted)}`]),
    ...(expected === undefined ? [] : [`- **Expected:** ${markdownEscaped(expected)}`]),
    ...(came === undefined ? [] : [`- **Came:** ${markdownEscaped(came)}`]),
    `- **Rule:** ${markdownEscaped(rule)}`,
    ...(fix === undefined ? [] : [`- **Fix:** ${markdownEscaped(fix)}`]),
    ...(exercise_with === undefined ? [] : [`- **Again:** ${code(exercise_with)}`]),
    '',
    ...(exchanges.length > 0
      ? ['| at | request | key | answer | request id |', '| --: | --- | --- | --- | --- |', ...exchanges, '']
      : []),
  ].join('\n')
}

function coverage({ coverage: { operations, errors, faults } }: Report): string[] {
  const line = (what: string, covered: readonly Covered[]) => {
    const seen = covered.filter(({ exercised }) => exercised).map(({ id, count }) => `\`${id}\` ×${count}`)
    return `- ${seen.length} of ${covered.length} ${what}${seen.length > 0 ? `: ${seen.join(', ')}` : ''}`
  }
  return [line('operations', operations), line('error codes', errors), line('kinds of faults', faults)]
}
