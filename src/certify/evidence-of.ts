import type { Run } from '../exec/sandbox-run.ts'
import type { Exploration } from '../explore/exploration.ts'
import { version } from '../version.ts'
import { type Evidence, FORM } from './evidence.ts'
import { explorationEvidence, lastingNames } from './exploration-evidence.ts'
import { mergeFindings } from './merge-findings.ts'
import { scenarioEvidence } from './scenario-evidence.ts'

/** What is certified, and with what. */
export interface CertifiedTerms {
  subject: string | undefined
  /** As `Evidence` has them. */
  flags: readonly string[]
  fixtures: string | null
}

/** spec: Versioning 2. What `X-Yield-Api-Version` says. */
const SPECIFICATION = '1.0.0'

/** What the runs through the scenarios and the exploration come to, without whatever varies from run to run. */
export function evidenceOf(
  runs: readonly Run[],
  exploration: Exploration,
  { subject, flags, fixtures }: CertifiedTerms,
): Evidence {
  const { command, seed, clock } = exploration
  const lasting = lastingNames(exploration)
  return {
    form: FORM,
    version,
    specification: SPECIFICATION,
    subject: subject ?? null,
    command: [...command],
    flags: [...flags],
    fixtures,
    seed,
    clock,
    scenarios: runs.map((run) => scenarioEvidence(run, lasting)),
    findings: mergeFindings(
      runs.map(({ scenario, report }) => ({ name: scenario?.name ?? '', findings: report.findings })),
    ),
    exploration: explorationEvidence(exploration),
  }
}
