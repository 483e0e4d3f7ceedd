import { attributesOf, element, plainText, type XmlElement } from '../../render/safe-text.ts'
import type { AssumptionResult, Exploration, TrialResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { ASSUMPTION_WORDS, harms } from './assumption-words.ts'
import { inOneLine, OUTCOMES } from './outcomes.ts'

/**
 * JUnit XML, a test case for each trial and for each other setting of the service; one that the command breaks under is a failure. A bad result is a failure; a fault that never struck, or a trial not tried, is skipped; a run
 * that shows nothing is an error; a command that gave up passes, with a remark.
 */
export function renderJunit(exploration: Exploration): string {
  const { results, untried, created_at, took_ms } = exploration
  const { assumptions = [] } = exploration
  const cases = [
    ...results.map((result) => ({ said: trialVerdict(result), shown: caseOf(result) })),
    ...assumptions.map((result) => ({ said: assumptionVerdict(result), shown: caseOfSetting(result) })),
  ]
  const left = untried?.trials ?? []
  const count = (name: string) => cases.filter(({ said }) => said?.startsWith(`<${name} `)).length
  const attributes = {
    name: 'yield-sandbox explore',
    tests: cases.length + left.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped') + left.length,
    time: took_ms / 1000,
    timestamp: created_at.replace(/\.\d+Z$/, ''),
  }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="yield-sandbox">',
    `  <testsuite ${attributesOf(attributes)}>`,
    ...cases.map(({ shown, said }) => testCase(shown, said)),
    ...left.map((trial) => {
      const skipped = element('skipped', { message: `not tried: ${untried?.reason}` }, '')
      return testCase(caseOf({ trial, took_ms: 0 }), skipped)
    }),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** Attributes of a test case. */
interface TestCase extends Record<string, string | number> {
  classname: string
  name: string
  /** Seconds. */
  time: number
}

function caseOf({ trial, took_ms }: Pick<TrialResult, 'trial' | 'took_ms'>): TestCase {
  const operation = trial.harms[0]?.position.operation ?? 'none'
  return { classname: `yield-sandbox.explore.${operation}`, name: trial.id, time: took_ms / 1000 }
}

function caseOfSetting({ id, took_ms }: AssumptionResult): TestCase {
  return { classname: 'yield-sandbox.explore.assumptions', name: id, time: took_ms / 1000 }
}

function testCase(attributes: TestCase, said: XmlElement | undefined): string {
  const start = `    <testcase ${attributesOf(attributes)}`
  return said === undefined ? `${start}/>` : `${start}>${said}</testcase>`
}

function assumptionVerdict(result: AssumptionResult): XmlElement | undefined {
  const { outcome, means, sentences } = result
  const { name, meaning } = ASSUMPTION_WORDS[outcome]
  if (outcome === 'survived') return undefined
  if (harms(result)) {
    return element('failure', { message: `${name}: ${meaning}. ${means}`, type: outcome }, detailsOf(result))
  }
  const message = `${name}: ${inOneLine(sentences)}`
  return outcome === 'errored'
    ? element('error', { message, type: outcome }, detailsOf(result))
    : element('skipped', { message }, '')
}

function trialVerdict(result: TrialResult): XmlElement | undefined {
  const { outcome, level, sentences } = result
  const { name, meaning } = OUTCOMES[outcome]
  if (outcome === 'survived') return undefined
  if (isBad(level)) {
    return element('failure', { message: `${name}: ${meaning}`, type: outcome }, detailsOf(result))
  }
  const message = `${name}: ${inOneLine(sentences)}`
  if (outcome === 'errored') return element('error', { message, type: outcome }, detailsOf(result))
  if (outcome === 'not_exercised') return element('skipped', { message }, '')
  return element('system-out', {}, plainText(message))
}

function detailsOf({ sentences, findings, repeat }: Pick<TrialResult, 'sentences' | 'findings' | 'repeat'>): string {
  const why = findings.flatMap(({ id, title, explanation, fix }) => [
    `Why: ${title} (${id}). ${explanation}`,
    `Fix: ${fix}`,
  ])
  return [...sentences, ...why, `Again: ${repeat}`].map((text) => plainText(text)).join('\n')
}
