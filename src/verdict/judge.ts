import type { Evidence } from './evidence.ts'
import type { Finding, Judgement, Outcome } from './finding.ts'

/** A judgement, or what stands for it when the judge itself failed. */
export type Judged = Omit<Judgement, 'outcome'> & { outcome: Outcome }

/** What a finding makes of the evidence. Never throws: a judge that does is `errored`, and the others go on. */
export function judge(finding: Finding, evidence: Evidence): Judged {
  try {
    return finding.judge(evidence)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const explanation = `Its judge failed, which is a mistake in the sandbox, not in the client: ${reason}.`
    return { outcome: 'errored', explanation, request_ids: [] }
  }
}
