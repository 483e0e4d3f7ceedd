import { type AllTerms, runAll } from '../exec/run-all.ts'
import { type ExploreTerms, explore, limitOf } from '../explore/explore.ts'
import { sharedExploration } from '../explore/results/exploration-files.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { withTilde } from '../support/with-tilde.ts'
import { certificateOf } from './certificate.ts'
import type { Certificate } from './certificate-document.ts'
import { type CertifiedTerms, evidenceOf } from './evidence-of.ts'

/** Options of `certify`. */
export interface CertifyTerms
  extends CertifiedTerms,
    Pick<ExploreTerms, 'command' | 'before' | 'renames' | 'env' | 'interruption' | 'options' | 'clock' | 'timeout'>,
    Pick<ExploreTerms, 'restarts' | 'jobs' | 'tolerate' | 'kinds' | 'operations' | 'watch'>,
    Pick<AllTerms, 'out' | 'say'> {
  scenarios: readonly Scenario[]
  /** Called when the exploration is over. */
  explored(): void
}

/**
 * Runs the command through an exploration, which reports at once if the command itself is unusable, then through every scenario.
 * Resolves to undefined when it was interrupted. Throws the errors of `explore` and `exec`.
 */
export async function certify(terms: CertifyTerms): Promise<Certificate | undefined> {
  const { interruption } = terms
  const exploration = await explore({
    ...terms,
    depth: 1,
    maxRuns: undefined,
    budget: undefined,
    known: new Map(),
  })
  terms.explored()
  if (!exploration || interruption.asked.aborted) return undefined
  const runs = await runAll({
    ...terms,
    faults: [],
    required: [],
    timeout: terms.timeout ?? limitOf(exploration.baseline.took_ms),
  })
  if (interruption.asked.aborted) return undefined
  for (const { scenario, report } of runs) {
    if (report.verdict === 'inconclusive') terms.say(`scenario ${scenario?.name}: ${report.summary}`)
  }
  const home = terms.env.HOME
  const flags = terms.flags.map((flag) => withTilde(flag, home))
  return certificateOf(evidenceOf(runs, sharedExploration(exploration, home), { ...terms, flags }))
}
