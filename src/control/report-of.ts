import { KINDS } from '../faults/kinds/index.ts'
import type { Ending } from '../oracle/outcome.ts'
import { breathe } from '../support/breathe.ts'
import { reportInSteps } from '../verdict/build-report.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import { FINDINGS } from '../verdict/findings/index.ts'
import { renderReports } from '../verdict/render/render-reports.ts'
import type { Report } from '../verdict/report.ts'
import type { ReportForm } from '../verdict/report-forms.ts'
import type { NamespaceControl } from './control-parts.ts'

/** What a report is to be of. */
export interface ReportOptions {
  /** Findings that must be passed beside those that the scenario expects. */
  required: readonly FindingId[]
  /** Whether the client has ended. */
  ended: boolean
  /** How the command ended that it is part of; null where nobody knows. */
  end: Ending | null
  /** Of the sandbox. */
  version: string
}

/** The report on the clients of a namespace, by all they have sent and got since its last reset. */
export async function reportOf(namespace: NamespaceControl, options: ReportOptions): Promise<Report> {
  const { required, ended, end, version } = options
  const { current } = namespace.scenarios
  const evidence = await namespace.evidence({ ended, end })
  const steps = reportInSteps(evidence, {
    findings: FINDINGS,
    version,
    seed: namespace.seed,
    faultKinds: KINDS.map(({ kind }) => kind),
    scenario: current && {
      name: current.name,
      findings: current.expect.findings ?? [],
      traffic: current.expect.traffic ?? {},
    },
    required,
  })
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await breathe()
  }
}

/** The same in one of its forms. */
export async function renderedReportOf(
  namespace: NamespaceControl,
  { form, ...options }: ReportOptions & { form: ReportForm },
): Promise<string> {
  return renderReports(form, [await reportOf(namespace, options)])
}
