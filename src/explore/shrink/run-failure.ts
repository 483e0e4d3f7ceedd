import { codeOfEnd, endInWords } from '../../exec/command-end.ts'
import type { Run } from '../../exec/sandbox-run.ts'

/** In what a run failed. */
export interface RunFailure {
  /** Ids of the findings that are contradicted. */
  findings: readonly string[]
  /** What the end of the command comes to; 0 when it ended well. */
  code: number
  /** One sentence each, without a full stop. */
  words: readonly string[]
}

/** Undefined when it did not fail: its verdict is another one, and the command ended well. What a baseline accepts is no failure. */
export function failureOf({ report, end }: Pick<Run, 'report' | 'end'>): RunFailure | undefined {
  const contradicted = report.findings.filter(({ outcome, accepted }) => outcome === 'failed' && accepted === undefined)
  const code = codeOfEnd(end)
  if (contradicted.length === 0 && code === 0) return undefined
  const words = [...contradicted.map(({ title }) => title.replace(/\.$/, '')), ...(code === 0 ? [] : [endInWords(end)])]
  return { findings: contradicted.map(({ id }) => id), code, words }
}

/** Whether a run fails as an earlier one did: in the same findings or, where there were none, with the same code. */
export function isAlike(failure: RunFailure, run: Pick<Run, 'report' | 'end'>): boolean {
  const other = failureOf(run)
  if (!other) return false
  return failure.findings.length > 0
    ? failure.findings.every((id) => other.findings.includes(id))
    : failure.code === other.code
}
