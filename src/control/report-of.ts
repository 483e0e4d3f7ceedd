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

/** Options of a report. */
export interface ReportOptions {
  /** Findings that must be passed beside those that the scenario expects. */
  required: readonly FindingId[]
  /** True if the client has ended. */
  ended: boolean
  /** The way in which the command that runs the client ended; null if unknown. */
  end: CommandEnding | null
  /** Version of the sandbox. */
  version: string
}

/** The report on the clients of a namespace, from all their exchanges since its last reset. */
export async function reportOf(namespace: NamespaceControl, options: ReportOptions): Promise<Report> {
  const { required, ended, end, version } = options
  const evidence = await namespace.evidence({ ended, end })
  return reportOn(evidence, { version, seed: namespace.seed, scenario: namespace.scenarios.current, required })
}

/** Context of a report beside its evidence. */
export interface ReportedRun
  extends Pick<ReportContext, 'version' | 'seed' | 'required' | 'beside' | 'reasons' | 'books'> {
  /** The scenario that the run should have gone through. */
  scenario: Pick<Scenario, 'name' | 'expect'> | undefined
}

/** The report on clients, from evidence, in steps; other tasks run in between. */
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

/** The same report in one of its text forms. */
export async function renderedReportOf(
  namespace: NamespaceControl,
  { form, ...options }: ReportOptions & { form: ReportForm },
): Promise<string> {
  return renderReports(form, [await reportOf(namespace, options)])
}
