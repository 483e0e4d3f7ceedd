import type { BooksSaid } from '../../books/books.ts'
import { type OperationOutcome, OUTCOMES } from '../../oracle/outcome.ts'
import { type Attributes, attributesOf, element, plainText, type XmlElement } from '../../render/safe-text.ts'
import type { ConfigurationCause, Report, ReportedFinding } from '../report.ts'
import { reportName, shownOperations } from './report-parts.ts'

/** Result of one test case; empty for a success. */
type Result = '' | XmlElement

/**
 * JUnit XML, a test suite for each report. A broken rule and money that went astray are failures; results that a baseline accepts, that
 * need review or that were not tested are skipped, with the reason; a broken judge, a set-up that blocked everything and an inconclusive
 * verdict are errors.
 */
export function renderJunit(reports: readonly Report[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="yield-sandbox">',
    ...reports.map(suite),
    '</testsuites>',
    '',
  ].join('\n')
}

function suite(report: Report): string {
  const scenario = reportName(report)
  const cases: [name: string, result: Result][] = [
    ...report.configuration.map((cause): [string, Result] => [`set-up: ${cause.id}`, setUp(cause)]),
    ...shownOperations(report).grave.map((operation): [string, Result] => [
      operationName(operation),
      judged(operation),
    ]),
    ...(report.books ? [['books', booksResult(report.books)] as [string, Result]] : []),
    ...report.findings.map((finding): [string, Result] => [finding.id, findingResult(finding)]),
    ...(report.verdict === 'inconclusive' ? [['verdict', inconclusive(report)] as [string, Result]] : []),
  ]
  const count = (element: string) => cases.filter(([, result]) => result.startsWith(`<${element} `)).length
  const attributes = {
    name: `yield-sandbox: ${scenario}`,
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: 0,
    timestamp: report.created_at.replace(/\.\d+Z$/, ''),
  }
  return [
    `  <testsuite ${attributesOf(attributes)}>`,
    ...cases.map(([name, result]) => testCase({ classname: `yield-sandbox.${scenario}`, name, time: 0 }, result)),
    '  </testsuite>',
  ].join('\n')
}

function testCase(attributes: Attributes, result: Result): string {
  const start = `    <testcase ${attributesOf(attributes)}`
  return result === '' ? `${start}/>` : `${start}>${result}</testcase>`
}

function operationName({ type, external_id }: OperationOutcome): string {
  return external_id === null ? `operation: ${type}` : `operation: ${type} of ${external_id}`
}

function judged({ outcome, level, sentence, request_ids }: OperationOutcome): Result {
  if (level === 'critical' || level === 'serious') {
    const text = plainText(`Requests: ${request_ids.join(', ')}`)
    return element('failure', { message: `${OUTCOMES[outcome].title}: ${sentence}`, type: level }, text)
  }
  return element('skipped', { message: `${OUTCOMES[outcome].title}: ${sentence}` }, '')
}

/** Each transfer that is wrong in the books is a failure by itself as well. */
function booksResult({ verdict, sentence }: BooksSaid): Result {
  if (verdict === 'right') return ''
  if (verdict === 'unusable') return element('error', { message: sentence, type: 'books' }, '')
  return element(verdict === 'wrong' ? 'failure' : 'skipped', { message: sentence, type: 'books' }, '')
}

function findingResult(finding: ReportedFinding): Result {
  const { outcome, title, explanation, impact, accepted } = finding
  if (outcome === 'passed') return ''
  if (accepted !== undefined) return element('skipped', { message: `Accepted by the baseline: ${accepted}` }, title)
  if (outcome === 'failed') return element('failure', { message: title, type: impact }, detailsOf(finding))
  if (outcome === 'errored') return element('error', { message: explanation, type: 'errored' }, '')
  return element('skipped', { message: explanation }, '')
}

function detailsOf(finding: ReportedFinding): string {
  const { explanation, consequence, expected, came, rule, fix, exercise_with, request_ids } = finding
  const lines: [string, string | undefined][] = [
    ['', explanation],
    ['', consequence],
    ['Expected: ', expected],
    ['Came: ', came],
    ['Rule: ', rule],
    ['Fix: ', fix],
    ['Again: ', exercise_with],
    ['Requests: ', request_ids.join(', ')],
  ]
  return lines.flatMap(([label, text]) => (text ? [`${label}${plainText(text)}`] : [])).join('\n')
}

function setUp({ title, expected, came, fix, blocking }: ConfigurationCause): Result {
  const text = [`Expected: ${expected}`, `Came: ${came}`, `Fix: ${fix}`].map((line) => plainText(line)).join('\n')
  return blocking
    ? element('error', { message: title, type: 'set-up' }, text)
    : element('skipped', { message: title }, '')
}

function inconclusive({ summary, unmet }: Report): Result {
  return element(
    'error',
    { message: summary, type: 'inconclusive' },
    unmet.map((reason) => plainText(reason)).join('\n'),
  )
}
