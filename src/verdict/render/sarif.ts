import type { Impact } from '../finding.ts'
import type { Report, ReportedFinding } from '../report.ts'
import { nameOf } from './by-outcome.ts'
import { plainText } from './plain-text.ts'

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'

const LEVELS: Record<Impact, string> = { critical: 'error', serious: 'error', minor: 'warning' }

/**
 * SARIF 2.1.0: what failed, and as notes what needs review; mistakes in the set-up as notifications. One run for all reports, since
 * code scanning takes no second one of the same tool.
 */
export function renderSarif(reports: readonly Report[]): string {
  const found = reports.flatMap((report) =>
    report.findings
      .filter(({ outcome }) => outcome === 'failed' || outcome === 'needs_review')
      .map((finding) => ({ report, finding })),
  )
  const rules = new Map(found.map(({ finding }) => [finding.id, finding]))
  const ids = [...rules.keys()]
  const run = {
    tool: {
      driver: {
        name: 'yield-sandbox',
        ...(reports[0] && { version: reports[0].version, semanticVersion: reports[0].version }),
        rules: [...rules.values()].map(ruleOf),
      },
    },
    automationDetails: { id: 'yield-sandbox/' },
    invocations: [{ executionSuccessful: true, toolConfigurationNotifications: reports.flatMap(notificationsOf) }],
    results: found.map(({ report, finding }) => resultOf(report, finding, ids.indexOf(finding.id))),
    columnKind: 'utf16CodeUnits',
  }
  return `${JSON.stringify({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, null, 2)}\n`
}

function ruleOf({ id, title, rule, impact, consequence, fix }: ReportedFinding) {
  const lines = [consequence, `Rule: ${rule}`, `Fix: ${fix ?? rule}`].map((line) => plainText(line))
  return {
    id,
    name: id.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase()),
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

/** There is no line of code to point at: what was judged is what came over the wire. Viewers want a file all the same. */
function resultOf(report: Report, finding: ReportedFinding, ruleIndex: number) {
  const { id, outcome, impact, title, explanation, accepted, expected, came, request_ids } = finding
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
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: `yield-sandbox/${encodeURIComponent(plainText(report.scenario ?? 'run', 64))}` },
          region: { startLine: 1 },
        },
        ...(operations.size > 0 && {
          logicalLocations: [...operations].map((name) => ({ name, kind: 'function' })),
        }),
      },
    ],
    partialFingerprints: { 'finding/v1': `${plainText(nameOf(report), 64)}/${id}` },
    properties: { outcome, impact, request_ids: request_ids.map((request_id) => plainText(request_id)) },
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
