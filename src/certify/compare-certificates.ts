import { shellWords } from '../support/foreign-text.ts'
import { canonicalJson } from '../support/json.ts'
import type { Certificate } from './certificate-document.ts'
import { type CertificateEvidence, operationInWords } from './evidence.ts'

/** Maximum number of differences that are listed. */
const TOLD = 5

/** The result of a comparison. */
export interface CertificateComparison {
  /** True if the results are the same; subject, command and the other circumstances may differ. */
  sameResults: boolean
  /** At least one. */
  sentences: string[]
}

/** Compares the content of two certificates and puts the first differences into words. */
export function compareCertificates(first: Certificate, second: Certificate): CertificateComparison {
  if (first.digest === second.digest) return { sameResults: true, sentences: ['the same digest'] }
  const [one, other] = [first.evidence, second.evidence]
  const circumstances = differences(circumstancesOf(one), circumstancesOf(other))
  const results = differences(resultsOf(one), resultsOf(other))
  const more = results.length - TOLD
  return {
    sameResults: results.length === 0,
    sentences: [
      results.length === 0 ? 'the same results, but another digest' : 'not the same results',
      ...circumstances,
      ...results.slice(0, TOLD),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
  }
}

type Entries = ReadonlyMap<string, string>

function circumstancesOf({
  version,
  specification,
  subject,
  command,
  flags,
  fixtures,
  seed,
  clock,
}: CertificateEvidence): Entries {
  return new Map(
    Object.entries({
      version,
      specification,
      subject: subject ?? 'none',
      command: shellWords(command),
      flags: shellWords(flags) || 'none',
      fixtures: fixtures ?? "the sandbox's own",
      seed: String(seed),
      clock,
    }),
  )
}

function resultsOf({
  scenarios,
  findings,
  exploration: { trials, incidents, repeatable },
}: CertificateEvidence): Entries {
  return new Map([
    ...findings.map((finding): [string, string] => [`finding ${finding.id}`, findingInWords(finding)]),
    ...scenarios.map(({ name, verdict, end, operations }): [string, string] => [
      `scenario ${name}`,
      [verdict, `end ${end}`, ...operations.map(operationInWords)].join(', '),
    ]),
    ['repeatable', String(repeatable)],
    ...trials.map(({ id, outcome }): [string, string] => [`run ${id}`, outcome]),
    // The command line that repeats the run is not a result.
    ...incidents.map(({ repeat: _, ...cell }): [string, string] => [
      `what happened at ${cell.operation} ${cell.hazard}`,
      [...cell.sentences, canonicalJson(cell.findings)].join('; '),
    ]),
  ])
}

function findingInWords({
  outcome,
  contradicted_in,
  proved_in,
  review_in,
}: CertificateEvidence['findings'][number]): string {
  const shown = (how: string, names: readonly string[]) => (names.length > 0 ? [`${how} ${names.join(', ')}`] : [])
  return [
    ...[outcome, ...shown('contradicted by', contradicted_in), ...shown('proved by', proved_in)],
    ...shown('to be looked at in', review_in),
  ].join('; ')
}

function differences(first: Entries, second: Entries): string[] {
  return [...new Set([...first.keys(), ...second.keys()])].flatMap((name) => {
    const [was = 'not there', is = 'not there'] = [first.get(name), second.get(name)]
    return was === is ? [] : [`${name}: ${was} in the first, ${is} in the second`]
  })
}
