import type { Verdict } from '../verdict/report.ts'
import type { Exploration } from './exploration.ts'

/** Runs with the same result. */
export interface ExplorationIncident {
  /** Ids of the runs; the first one stands for all. */
  trials: string[]
  /** "after reverted; and at 4 other places"; absent when nothing else is alike. */
  also?: string
  /** Ids of findings that explain it, of any of its runs. */
  findings: string[]
}

/** An exploration as `--report x.json` writes it: all that a page shows of it, so that a page can be made of the file alone. */
export interface ExplorationDocument extends Exploration {
  verdict: Verdict
  /** One sentence. */
  summary: string
  /** One sentence on the worst outcome; absent if nothing went wrong, and in files of earlier versions. */
  headline?: string
  counts: Record<string, number>
  /** Two sentences: how many runs came to what, and how long they took. */
  pace: string
  /** Remarks, a sentence each. */
  remarks: string[]
  /** Outcomes that occurred, the worst first. */
  outcomes: Record<string, { name: string; meaning: string }>
  /** With `--assumptions`: outcomes under other settings that occurred, the worst first. */
  assumption_outcomes?: Record<string, { name: string; meaning: string }>
  /** What went wrong, the worst first, and what should be known. */
  incidents: { wrong: ExplorationIncident[]; aside: ExplorationIncident[] }
}
