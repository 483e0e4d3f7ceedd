import { leftBehindInWords } from '../../exec/command-end.ts'
import { LEVELS } from '../../oracle/outcome.ts'
import { plural } from '../../verdict/evidence/words.ts'
import { type Exploration, TRIAL_OUTCOMES, type TrialResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { positionName } from '../plan/positions.ts'
import { explorationSummary, notTriedInWords } from '../summary.ts'
import { twinOf } from '../twins/twin-points.ts'
import { assumptionsInWords, assumptionTally } from './assumption-words.ts'
import { OUTCOMES } from './outcomes.ts'

/** The verdict of an exploration in one sentence. */
export function verdictSentence(exploration: Exploration): string {
  const { results, assumptions } = exploration
  if (assumptions === undefined) return faultsSentence(exploration)
  const { verdict } = explorationSummary(exploration)
  const { assumptions: _, ...faults } = exploration
  const ofFaults = results.length > 0 ? [`${faultsSentence(faults).replace(/^[^:]*: (.*)\.$/s, '$1')}`] : []
  const said = [assumptionsInWords(assumptions), ...ofFaults].join('; and of the faults: ')
  return `${verdict.charAt(0).toUpperCase()}${verdict.slice(1)}: ${said}.`
}

function faultsSentence(exploration: Exploration): string {
  const { verdict, counts } = explorationSummary(exploration)
  const { results } = exploration
  const runs = plural(results.length, 'run')
  if (verdict === 'failed') {
    const bad = results.filter(({ level }) => isBad(level))
    const hung = bad.filter(({ outcome }) => outcome === 'hung').length
    const unnoticed = bad.filter(({ end }) => end === '0').length
    const said = [
      ...(bad.length > hung ? [`money went astray in ${bad.length - hung} of ${runs}`] : []),
      ...(hung > 0 ? [`${plural(hung, 'run')} hung`] : []),
      ...(unnoticed > 0 ? [`your tests did not notice ${unnoticed}`] : []),
      ...behindInWords(bad),
    ]
    return `Failed: ${said.join('; ')}.`
  }
  const far = exploration.untried === null ? '' : ' as far as it went'
  const struck = results.length - counts.not_exercised - counts.errored
  const noun = nounOf(results)
  if (struck === 0) return `Inconclusive: none of ${plural(results.length, noun)} struck anything.`
  if (verdict === 'passed') return `Passed${far}: ${plural(struck, noun)} struck, and no money went astray.`
  const open = results.filter(({ level }) => level === 'review' || level === 'inconclusive').length
  return `Inconclusive${far}: of ${plural(struck, noun)} that struck, ${open} left open what became of the money.`
}

/** What struck the command: a second process of it, too, strikes when it meets the first. */
function nounOf(results: readonly TrialResult[]): string {
  const hazards = results.flatMap(({ trial }) => trial.harms.map(({ hazard }) => hazard))
  if (hazards.some(({ rule }) => rule !== null)) return 'fault'
  return hazards.every(({ id }) => twinOf(id)) ? 'twin' : 'kill'
}

/** "deposit#1@alice is behind 9 of 12": the one request, or strike at it, that most bad results have in common; nothing where there is none. */
function behindInWords(bad: readonly TrialResult[]): string[] {
  if (bad.length < FEW) return []
  const strikes = ({ trial: { harms } }: TrialResult) =>
    harms.map(({ position, hazard }) => `${positionName(position)} ${hazard.title}`)
  const places = ({ trial: { harms } }: TrialResult) => harms.map(({ position }) => positionName(position))
  for (const namesOf of [strikes, places]) {
    const all = [...new Set(bad.flatMap(namesOf))]
    const counted = all.map((name) => ({ name, count: bad.filter((one) => namesOf(one).includes(name)).length }))
    const [most, next] = counted.sort((a, b) => b.count - a.count)
    if (most && most.count * 2 > bad.length && most.count > (next?.count ?? 0))
      return [`${most.name} is behind ${most.count} of ${bad.length}`]
  }
  return []
}

/** Fewer bad results than this need no common denominator: they are shown one by one. */
const FEW = 3

/** "Paid twice in 12 of 64 runs, and no test noticed." Undefined if nothing went wrong. */
export function worstSentence({ results }: Pick<Exploration, 'results'>): string | undefined {
  const bad = results.filter(({ level }) => isBad(level))
  const [worst] = [...bad].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
  if (!worst) return undefined
  const alike = bad.filter(({ outcome }) => outcome === worst.outcome)
  const silent = alike.filter(({ end }) => end === '0').length
  const noticed = silent === 0 ? 'the tests noticed' : `no test noticed${silent < alike.length ? ` ${silent}` : ''}`
  const { name } = OUTCOMES[worst.outcome]
  const others = bad.length - alike.length
  const more = others > 0 ? ` ${plural(others, 'other run')} went wrong.` : ''
  const runs = plural(results.length, 'run')
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} in ${alike.length} of ${runs}, and ${noticed}.${more}`
}

/** Remarks for people, a sentence each: about the command, and about trials that were not tried. */
export function leftOpen(exploration: Exploration): string[] {
  const { command, baseline } = exploration
  const { shared_keys: shared } = baseline
  const notTried = notTriedInWords(exploration)
  const left = leftBehindInWords(command[0] ?? '', baseline.left_behind)
  return [
    ...(left === undefined ? [] : [`${left}. That takes time after every run: let it end what it starts.`]),
    ...(baseline.difference === null
      ? []
      : [`Runs without faults differ, which was tolerated: ${baseline.difference}.`]),
    ...(shared === 0
      ? []
      : [
          `Both runs without faults used ${shared === 1 ? 'one Idempotency-Key' : `${shared} Idempotency-Keys`} alike. That is right for keys made of an order's id, and wrong for keys made of what is asked for: a second equal order would never happen.`,
        ]),
    ...(exploration.pairs ? [pairsInWords(exploration.pairs, exploration)] : []),
    ...(notTried === undefined ? [] : [`Not tried: ${notTried}.`]),
  ]
}

/** "Of 812 pairs at these requests, 40 could make a difference, since the first strike changed what was asked afterwards: 40 were tried." */
function pairsInWords({ possible, reached }: NonNullable<Exploration['pairs']>, { results }: Exploration): string {
  const tried = results.filter(({ trial }) => trial.harms.length === 2).length
  return `Of ${plural(possible, 'pair')} at these requests, ${reached} could make a difference, since the first strike changed what was asked afterwards; ${tried} of them were tried.`
}

/** "251 survived, 3 gave up": outcomes that occurred, the worst first. */
export function tally(exploration: Exploration): string {
  const { counts } = explorationSummary(exploration)
  const parts = TRIAL_OUTCOMES.filter((outcome) => counts[outcome] > 0)
  const faults = parts.map((outcome) => `${counts[outcome]} ${OUTCOMES[outcome].name}`)
  return [...faults, ...assumptionTally(exploration.assumptions ?? [])].join(', ') || 'nothing was tried'
}

/** "279 runs in 61.2 s, 2 at a time: 0.4 s each, and 12 ms a run are the sandbox's own" */
export function pace({ results: trials, assumptions = [], took_ms, jobs }: Exploration): string {
  const results = [...trials, ...assumptions.filter(({ outcome }) => outcome !== 'untried')]
  const of = (pick: (result: Pick<TrialResult, 'took_ms' | 'overhead_ms'>) => number) =>
    results.reduce((sum, result) => sum + pick(result), 0) / Math.max(1, results.length)
  const own = of(({ overhead_ms }) => overhead_ms).toFixed(0)
  const each = seconds(of((result) => result.took_ms))
  return `${plural(results.length, 'run')} in ${seconds(took_ms)}, ${jobs} at a time: ${each} each, and ${own} ms a run are the sandbox's own`
}

/** "12.3 s", "2 min 5 s" */
export function seconds(milliseconds: number): string {
  const all = milliseconds / 1000
  if (all < 60) return `${all.toFixed(1)} s`
  return `${Math.floor(all / 60)} min ${Math.round(all % 60)} s`
}
