import type { Row } from './matrix.ts'
import type { Outcome, Trial } from './stage.ts'

/** What of a row says what is right. */
type Judgeable = Pick<Row, 'finding'> & { trial: Pick<Trial, 'scenario'> }

/** What is not as it must be, in words; empty when all is. */
export function wrongWith({ finding, trial }: Judgeable, { report, failed, codes, sound }: Outcome): string[] {
  const words = [
    ...report.findings.filter(({ outcome }) => outcome === 'errored').map(({ id }) => `the judge of ${id} failed`),
    ...failed.filter((id) => id !== finding).map((id) => `false alarm: ${id}: ${explanationOf(id, report)}`),
    ...report.configuration.map(({ id }) => `false alarm: ${id}`),
    ...(sound ? [] : ['API, ledger and chain do not agree']),
  ]
  if (finding !== undefined) {
    if (!failed.includes(finding)) words.push(`${finding} did not fail: ${explanationOf(finding, report)}`)
    return words
  }
  if (codes.some((code) => code !== 0)) words.push(`a client failed: ${codes}`)
  if (trial.scenario && report.verdict !== 'passed') words.push(report.summary)
  return words
}

function explanationOf(id: string, { findings }: Outcome['report']): string {
  const found = findings.find((one) => one.id === id)
  return found ? `${found.outcome}. ${found.explanation}` : 'it is no finding'
}
