import { KINDS } from '../faults/kinds/index.ts'
import type { CommandEnding } from '../oracle/outcome.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { stepByStep } from '../support/breathe.ts'
import { type ReportContext, reportInSteps } from '../verdict/build-report.ts'
import type { Evidence } from '../verdict/finding.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import { FINDINGS } from '../verdict/findings/index.ts'
import { renderReports } from '../verdict/render/render-reports.ts'
import type { Report, ReportForm } from '../verdict/report.ts'
import type { NamespaceControl } from './control-parts.ts'

/** What a report is to be of. */
export interface ReportOptions {
  /** Findings that must be passed beside those that the scenario expects. */
  required: readonly FindingId[]
  /** Whether the client has ended. */
  ended: boolean
  /** How the command ended that it is part of; null where nobody knows. */
  end: CommandEnding | null
  /** Of the sandbox. */
  version: string
}

/** The report on the clients of a namespace, by all they have sent and got since its last reset. */
export async function reportOf(namespace: NamespaceControl, options: ReportOptions): Promise<Report> {
  const { required, ended, end, version } = options
  const evidence = await namespace.evidence({ ended, end })
  return reportOn(evidence, { version, seed: namespace.seed, scenario: namespace.scenarios.current, required })
}

/** What a report on evidence is to be of, and beside what. */
export interface ReportedRun extends Pick<ReportContext, 'version' | 'seed' | 'required' | 'beside' | 'reasons'> {
  /** The scenario that was to be gone through. */
  scenario: Pick<Scenario, 'name' | 'expect'> | undefined
}

/** What is to be said of clients by evidence of them; others have their turn in between. */
export async function reportOn(evidence: Evidence, { scenario, ...run }: ReportedRun): Promise<Report> {
  const steps = reportInSteps(evidence, {
    ...run,
    findings: FINDINGS,
    faultKinds: KINDS.map(({ kind }) => kind),
    scenario: scenario && {
      name: scenario.name,
      findings: scenario.expect.findings ?? [],
      traffic: scenario.expect.traffic ?? {},
    },
  })
  return stepByStep(steps)
}

/** The same in one of its forms. */
export async function renderedReportOf(
  namespace: NamespaceControl,
  { form, ...options }: ReportOptions & { form: ReportForm },
): Promise<string> {
  return renderReports(form, [await reportOf(namespace, options)])
}
