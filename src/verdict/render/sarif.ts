import { type Level, type OperationOutcome, OUTCOMES, type OutcomeId } from '../../oracle/outcome.ts'
import { plainText } from '../../render/safe-text.ts'
import { visibleText } from '../../support/foreign-text.ts'
import type { Impact } from '../finding.ts'
import type { Report, ReportedFinding } from '../report.ts'
import { reportName, shownOperations } from './report-parts.ts'

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'

const LEVELS: Record<Impact, string> = { critical: 'error', serious: 'error', minor: 'warning' }

/**
 * SARIF 2.1.0: money that went astray, broken rules, and as notes those that need review; mistakes in the set-up as notifications. One
 * run for all reports, since code scanning accepts only one of the same tool.
 */
export function renderSarif(reports: readonly Report[]): string {
  const found = reports.flatMap((report) =>
    report.findings
      .filter(({ outcome }) => outcome === 'failed' || outcome === 'needs_review')
      .map((finding) => ({ report, finding })),
  )
  const rules = new Map(found.map(({ finding }) => [finding.id, finding]))
  const ids = [...rules.keys()]
  const money = reports.flatMap((report) => shownOperations(report).grave.map((operation) => ({ report, operation })))
  const outcomes = [...new Set(money.map(({ operation }) => operation.outcome))]
  const run = {
    tool: {
      driver: {
        name: 'yield-sandbox',
        informationUri: 'https://www.npmjs.com/package/yield-sandbox',
        ...(reports[0] && { version: reports[0].version, semanticVersion: reports[0].version }),
        rules: [...[...rules.values()].map(ruleOf), ...outcomes.map(outcomeRuleOf)],
      },
    },
    automationDetails: { id: 'yield-sandbox/' },
    invocations: [{ executionSuccessful: true, toolConfigurationNotifications: reports.flatMap(notificationsOf) }],
    results: [
      ...money.map(({ report, operation }) =>
        operationResultOf(report, operation, ids.length + outcomes.indexOf(operation.outcome)),
      ),
      ...found.map(({ report, finding }) => sarifResult(report, finding, ids.indexOf(finding.id))),
    ],
    columnKind: 'utf16CodeUnits',
  }
  return `${visibleText(JSON.stringify({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, null, 2))}\n`
}

function ruleOf({ id, title, rule, impact, consequence, fix }: ReportedFinding) {
  const lines = [consequence, `Rule: ${rule}`, `Fix: ${fix ?? rule}`].map((line) => plainText(line))
  return {
    id,
    name: nameOfRule(id),
    shortDescription: message(title),
    fullDescription: message(consequence),
    help: {
      text: lines.join('\n'),
      markdown: lines.map((line) => line.replace(/[\\`*_[\]<>|]/g, '\\$&')).join('\n\n'),
    },
    defaultConfiguration: { level: LEVELS[impact] },
    properties: { tags: ['api-client', impact] },
  }
}

/** Has a made-up file as its location: viewers require one, and traffic has no line of code. */
function sarifResult(report: Report, finding: ReportedFinding, ruleIndex: number) {
  const { id, outcome, impact, title, explanation, accepted, expected, came, request_ids, explained_by } = finding
  const wrong = outcome === 'failed'
  const sentences = [
    wrong ? `${title}.` : `Needs review: ${title}.`,
    explanation,
    ...(expected === undefined ? [] : [`Expected: ${expected}`]),
    ...(came === undefined ? [] : [`Came: ${came}`]),
  ]
  const operations = new Set(
    report.exchanges.flatMap(({ request_id, operation }) =>
      operation !== null && request_ids.includes(request_id) ? [operation] : [],
    ),
  )
  return {
    ruleId: id,
    ruleIndex,
    level: wrong ? LEVELS[impact] : 'note',
    message: message(sentences.join(' ')),
    ...(accepted !== undefined && { suppressions: [{ kind: 'external', justification: plainText(accepted) }] }),
    locations: [locationOf(report, [...operations])],
    partialFingerprints: { 'finding/v1': `${plainText(reportName(report), 64)}/${id}` },
    properties: {
      ...{ outcome, impact, request_ids: request_ids.map((request_id) => plainText(request_id)) },
      ...(explained_by !== undefined && { explained_by }),
      ...movedIn(finding),
    },
  }
}

/** As numbers and symbols for programs; names as visible text. */
function movedIn({ money_moved_wrongly: moved }: Pick<ReportedFinding, 'money_moved_wrongly'>) {
  if (!moved) return {}
  const { tenant, external_id, portfolio_id, ...rest } = moved
  const names = {
    tenant: plainText(tenant),
    external_id: plainText(external_id),
    portfolio_id: plainText(portfolio_id),
  }
  return { money_moved_wrongly: { ...names, ...rest } }
}

function nameOfRule(id: string): string {
  return id.replace(/(^|[-_])([a-z])/g, (_all, _separator, letter: string) => letter.toUpperCase())
}

function locationOf({ scenario }: Report, operations: readonly string[]) {
  return {
    physicalLocation: {
      artifactLocation: { uri: `yield-sandbox/${encodeURIComponent(plainText(scenario ?? 'run', 64))}` },
      region: { startLine: 1 },
    },
    ...(operations.length > 0 && { logicalLocations: operations.map((name) => ({ name, kind: 'function' })) }),
  }
}

/** A rule for an outcome of operations: code scanning requires one for each result. */
function outcomeRuleOf(outcome: OutcomeId) {
  const { title, level } = OUTCOMES[outcome]
  const text = `An operation of the client was ${title}, by the ledger and by what the client was told.`
  return {
    id: outcome,
    name: nameOfRule(outcome),
    shortDescription: message(title),
    fullDescription: message(text),
    help: { text, markdown: text },
    defaultConfiguration: { level: levelOf(level) },
    properties: { tags: ['api-client', level] },
  }
}

function levelOf(level: Level): string {
  return level === 'critical' || level === 'serious' ? 'error' : 'note'
}

function operationResultOf(report: Report, operation: OperationOutcome, ruleIndex: number) {
  const { outcome, level, sentence, type, external_id, amount_minor, request_ids } = operation
  const print = [reportName(report), outcome, type, external_id, amount_minor].map((part) => plainText(part ?? '', 64))
  return {
    ruleId: outcome,
    ruleIndex,
    level: levelOf(level),
    message: message(sentence),
    locations: [locationOf(report, [type])],
    partialFingerprints: { 'operation/v1': print.join('/') },
    properties: {
      ...{ outcome, level, request_ids: request_ids.map((request_id) => plainText(request_id)) },
      ...movedIn(operation),
    },
  }
}

function notificationsOf({ configuration }: Report) {
  return configuration.map(({ id, title, expected, came, fix, blocking }) => ({
    descriptor: { id },
    level: blocking ? 'error' : 'warning',
    message: message(`${title}. Expected: ${expected}. Came: ${came}. ${fix}`),
  }))
}

/** A message without links: brackets would make some (SARIF 2.1.0 §3.11.6). */
function message(text: string): { text: string } {
  return { text: plainText(text).replace(/[\\[\]]/g, '\\$&') }
}
