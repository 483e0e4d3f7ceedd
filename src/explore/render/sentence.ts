import { type Exploration, TRIAL_OUTCOMES } from '../exploration.ts'
import { summaryOf } from '../summary.ts'
import { OUTCOMES } from './outcomes.ts'

/** What an exploration comes to, in one sentence. */
export function verdictSentence(exploration: Exploration): string {
  const { verdict, counts } = summaryOf(exploration)
  const runs = exploration.results.length
  if (verdict === 'inconclusive') return `Inconclusive: none of ${countOf(runs, 'fault')} struck anything.`
  if (verdict === 'passed') {
    const struck = counts.survived + counts.gave_up_safely
    return `Passed: ${countOf(struck, 'fault')} struck, and no money went astray.`
  }
  const astray = counts.silently_wrong + counts.noticed_too_late
  const said = [
    ...(astray > 0 ? [`money went astray in ${astray} of ${runs} runs`] : []),
    ...(counts.silently_wrong > 0 ? [`in ${counts.silently_wrong} of them your tests did not notice`] : []),
    ...(counts.hung > 0 ? [`${countOf(counts.hung, 'run')} hung`] : []),
  ]
  return `Failed: ${said.join('; ')}.`
}

/** "251 survived, 3 gave up safely": those that came about, the worst first. */
export function tally(exploration: Exploration): string {
  const { counts } = summaryOf(exploration)
  const parts = TRIAL_OUTCOMES.filter((outcome) => counts[outcome] > 0)
  return parts.map((outcome) => `${counts[outcome]} ${OUTCOMES[outcome].name}`).join(', ') || 'nothing was tried'
}

/** "279 runs in 61.2 s, 2 at a time; 0.2 s each by themselves, and 12 ms of the sandbox's own" */
export function pace({ results, took_ms, jobs }: Exploration): string {
  const of = (pick: (result: Exploration['results'][number]) => number) =>
    results.reduce((sum, result) => sum + pick(result), 0) / Math.max(1, results.length)
  const own = of(({ overhead_ms }) => overhead_ms).toFixed(0)
  const each = seconds(of((result) => result.took_ms))
  return `${countOf(results.length, 'run')} in ${seconds(took_ms)}, ${jobs} at a time: ${each} of the command each, and ${own} ms of the sandbox`
}

/** "12.3 s", "2 min 5 s" */
export function seconds(milliseconds: number): string {
  const all = milliseconds / 1000
  if (all < 60) return `${all.toFixed(1)} s`
  return `${Math.floor(all / 60)} min ${Math.round(all % 60)} s`
}

/** "1 run", "2 runs" */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
