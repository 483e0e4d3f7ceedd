import { mergedReport } from '../merged-report.ts'
import type { ConfigurationCause, Covered, Report, ReportedFinding } from '../report.ts'
import { byOutcome, nameOf, tally } from './by-outcome.ts'
import { exchangesOf, inWords, shortKey } from './exchanges-of.ts'
import { code, escaped, VERDICT_SIGNS } from './markdown-text.ts'
import { LEVEL_SIGNS, operationsOf } from './operations-of.ts'
import { RULE_SIGNS, rulesTable } from './rules-table.ts'

/** GitHub's Markdown, for the summary of a job or a comment: what is wrong in full, the rest folded. */
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
    `${VERDICT_SIGNS[sum.verdict]} ${escaped(sum.summary)} **${tally(sum)}**`,
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
    row([code(id), ...outcomes.map((outcome) => (outcome === undefined ? '' : escaped(RULE_SIGNS[outcome].sign)))]),
  )
  if (rows.length === 0) return []
  return [
    row(['rule', ...reports.map((report) => escaped(nameOf(report)))]),
    row(['---', ...reports.map(() => ':-:')]),
    ...rows,
  ]
}

function table(reports: readonly Report[]): string {
  const rows = reports.map(
    (report) =>
      `| ${escaped(nameOf(report))} | ${VERDICT_SIGNS[report.verdict]} ${report.verdict} | ${report.proved} | ${report.contradicted} | ${report.unproved} |`,
  )
  return ['| scenario | verdict | kept | broken | not tested |', '| --- | --- | --: | --: | --: |', ...rows].join('\n')
}

function section(report: Report): string {
  const { passed, failed, needs_review, errored, not_exercised } = byOutcome(report)
  return [
    `## ${VERDICT_SIGNS[report.verdict]} ${escaped(report.summary)}`,
    '',
    `**${tally(report)}**, ${escaped(nameOf(report))}, seed ${report.seed}, yield-sandbox ${escaped(report.version)}`,
    '',
    ...(report.unmet.length > 1 ? [...report.unmet.map((reason) => `- ${escaped(reason)}`), ''] : []),
    ...chapter('What became of the money', operationLines(report)),
    ...chapter('Set-up', report.configuration.map(causeOf)),
    ...chapter(
      'Broken',
      failed.map((finding) => failureOf(report, finding)),
    ),
    ...chapter(
      'Needs review',
      needs_review.map(
        (finding) => `- **${escaped(finding.title)}** (\`${finding.id}\`): ${escaped(finding.explanation)}`,
      ),
    ),
    ...chapter(
      'Errored',
      errored.map((finding) => `- \`${finding.id}\`: ${escaped(finding.explanation)}`),
    ),
    ...folded(
      'Kept',
      passed.map((finding) => `- ${escaped(finding.title)} (\`${finding.id}\`): ${escaped(finding.explanation)}`),
      passed.length,
    ),
    ...folded(
      'Not tested',
      not_exercised.map(
        (finding) => `- ${escaped(finding.title)} (\`${finding.id}\`): ${code(finding.exercise_with ?? '')}`,
      ),
      not_exercised.length,
    ),
    ...folded('Coverage', coverage(report)),
  ].join('\n')
}

function operationLines(report: Report): string[] {
  const { grave, mild, rest } = operationsOf(report)
  return [
    ...[...grave, ...mild].map(({ level, sentence }) => `- ${LEVEL_SIGNS[level]} **${level}** ${escaped(sentence)}`),
    ...(rest === '' ? [] : [`- ${LEVEL_SIGNS.ok} ${escaped(rest)}`]),
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
  return `- **${escaped(title)}.** Expected ${code(expected)}, came ${code(came)}. ${escaped(fix)}`
}

function failureOf(report: Report, finding: ReportedFinding): string {
  const { id, title, impact, explanation, consequence, accepted, expected, came, rule, fix, exercise_with } = finding
  const exchanges = exchangesOf(report, finding.request_ids).map(
    ({ request_id, request, answer, at_ms, idempotency_key, shown_by }) =>
      `| ${inWords(at_ms)} | ${escaped(request)} | ${idempotency_key === null ? '' : escaped(shortKey(idempotency_key))} | ${escaped(answer)} | ${escaped(request_id)}${shown_by === null ? '' : `, the total that ${escaped(shown_by)} showed`} |`,
  )
  return [
    `#### ${escaped(title)}`,
    '',
    `\`${id}\`, ${impact}. ${escaped(explanation)} ${escaped(consequence)}`,
    '',
    ...(accepted === undefined ? [] : [`- **Accepted by the baseline:** ${escaped(accepted)}`]),
    ...(expected === undefined ? [] : [`- **Expected:** ${escaped(expected)}`]),
    ...(came === undefined ? [] : [`- **Came:** ${escaped(came)}`]),
    `- **Rule:** ${escaped(rule)}`,
    ...(fix === undefined ? [] : [`- **Fix:** ${escaped(fix)}`]),
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
