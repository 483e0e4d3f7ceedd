import { SandboxClock } from '../../domain/clock.ts'
import { codeOfEnd, endInAWord, endInWords } from '../../exec/command-end.ts'
import type { SandboxOptions } from '../../options.ts'
import { shorten } from '../../support/foreign-text.ts'
import { allInOrder } from '../../support/waiting.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import type { AssumptionResult } from '../exploration.ts'
import { holdTheSame, ownedMoney } from '../judge/compare-money.ts'
import { differenceOf, isBad, judgeTrial, type TrialExpectation } from '../judge/judge-trial.ts'
import { shownTrial } from '../judge/show-trial.ts'
import { repeatCommand, type SameTerms } from '../plan/find-trial.ts'
import { placesOf, positionName } from '../plan/positions.ts'
import { type ExplorationRunTerms, ExplorationSandbox, type Observation } from '../run/exploration-sandbox.ts'
import type { Limits } from '../run/run-trials.ts'
import { type Alternative, partsMet, unmetInWords } from './alternatives.ts'

/** Options and dependencies of runs under other settings of the service. */
export interface AlternativeTerms extends ExplorationRunTerms, SameTerms, Limits {
  /** Options of the sandbox that every run starts for itself. */
  options: SandboxOptions
  expected: TrialExpectation
  /** The first run without faults, under the fixture's own settings. */
  unharmed: Observation
  /** Time limit of each run, in milliseconds. */
  timeout: number
  /** Results of an earlier exploration with the same terms, by id. */
  known: ReadonlyMap<string, AssumptionResult>
  watch: { assumed?(result: AssumptionResult): void }
}

/**
 * Runs the command once under each alternative, side by side, each in a sandbox of its own: settings belong to a whole sandbox. Throws
 * CommandStartError and the errors of a sandbox that cannot start.
 */
export async function tryAlternatives(
  alternatives: readonly Alternative[],
  terms: AlternativeTerms,
): Promise<AssumptionResult[]> {
  const { jobs, maxRuns = Number.POSITIVE_INFINITY, budget = Number.POSITIVE_INFINITY, known, interruption } = terms
  const clock = new SandboxClock()
  const deadline = clock.wallNow() + budget
  const results = new Map(known)
  const queue = alternatives.filter(({ id }) => !known.has(id))
  let begun = 0
  let reason = 'interrupted'
  const mayBegin = () => {
    if (interruption.asked.aborted) return false
    if (begun < maxRuns && clock.wallNow() < deadline) return true
    reason = `left out by ${begun < maxRuns ? '--budget' : '--max-runs'}`
    return false
  }
  const lane = async () => {
    while (queue.length > 0 && mayBegin()) {
      begun++
      const alternative = queue.shift()
      const result = alternative && (await tryAlternative(alternative, terms))
      if (!result) continue
      results.set(result.id, result)
      terms.watch.assumed?.(result)
    }
  }
  await allInOrder(Array.from({ length: Math.min(jobs, queue.length) }, lane))
  return alternatives.map((one) => results.get(one.id) ?? untried(one, reason, terms))
}

/** Resolves to undefined when it was interrupted. */
async function tryAlternative(
  alternative: Alternative,
  terms: AlternativeTerms,
): Promise<AssumptionResult | undefined> {
  const clock = new SandboxClock()
  const began = clock.wallNow()
  const sandbox = await ExplorationSandbox.openUnder(alternative.service, terms.options)
  const opening = clock.wallNow() - began
  try {
    const { timeout } = terms
    const seen = await sandbox.run(terms, { faults: [], holding: 0, stdio: ['ignore', 'ignore', 'ignore'], timeout })
    return seen && assumptionResult(alternative, { ...seen, overhead: seen.overhead + opening }, terms)
  } finally {
    await sandbox.stop()
  }
}

function untried({ id, setting, value, means }: Alternative, reason: string, terms: SameTerms): AssumptionResult {
  return {
    ...{ id, setting, value, means, outcome: 'untried', level: 'none', sentences: [reason] },
    ...{ operations: [], findings: [], end: '', took_ms: 0, overhead_ms: 0, repeat: repeatCommand(id, terms) },
  }
}

function assumptionResult(alternative: Alternative, seen: Observation, terms: AlternativeTerms): AssumptionResult {
  const { id, setting, value, means } = alternative
  const { expected, unharmed } = terms
  const judged = judgeAlternative(alternative, seen, terms)
  const trial = { ...judgeTrial(seen, expected), level: judged.level }
  const before = new Set(failedFindings(unharmed).map((one) => one.id))
  const failed = failedFindings(seen).filter((one) => !before.has(one.id))
  return {
    ...{ id, setting, value, means, ...judged, operations: trial.operations },
    findings: failed.map(({ id, title, explanation, fix = '' }) => ({ id, title, explanation, fix })),
    end: endInAWord(seen.end),
    took_ms: Math.round(seen.took),
    overhead_ms: Math.round(seen.overhead),
    repeat: repeatCommand(id, terms),
    ...shownTrial(seen, trial, expected),
  }
}

function failedFindings({ report }: Observation) {
  return report.findings.filter(({ outcome }) => outcome === 'failed')
}

/**
 * Judges a run as a trial without faults: it must end as well as the unharmed one, with as much money in every place. It may have come
 * there by other requests, as a client that takes both into account does.
 */
export function judgeAlternative(
  alternative: Alternative,
  seen: Observation,
  { expected, unharmed }: Pick<AlternativeTerms, 'expected' | 'unharmed'>,
): Pick<AssumptionResult, 'outcome' | 'level' | 'sentences'> {
  const { end, evidence, money } = seen
  const { outcome, level, sentences, operations } = judgeTrial(seen, expected)
  if (outcome === 'errored' || level === 'inconclusive') return { outcome: 'errored', level: 'inconclusive', sentences }
  const differs = howItDiffers(seen, unharmed, expected)
  if (end.timedOut) return { outcome: 'hung', level: 'serious', sentences: [yourEnd(seen), ...differs] }
  if (isBad(level)) return { outcome: 'astray', level, sentences: [...sentences, ...differs] }
  const { met, unmet } = partsMet(alternative, { ...evidence, unharmed: unharmed.evidence })
  const actual = ownedMoney(money, evidence.exchanges, expected.stable)
  const same = expected.money.some((one) => holdTheSame(one, actual))
  if (codeOfEnd(end) !== 0 || !same || operations.some((one) => one.level === 'review')) {
    const [first, ...others] = differs
    const how = first === undefined ? yourEnd(seen) : `${yourEnd(seen)}: ${first}`
    const why = operations.filter((one) => one.level === 'review').map(({ sentence }) => sentence)
    const moved = same ? ['the money is the same'] : differenceOf(seen, expected)
    const chance = met.length > 0 ? [] : ['no request shows that it met the setting: that it failed may be chance']
    return { outcome: 'breaks', level: 'review', sentences: [how, ...others, ...new Set(why), ...moved, ...chance] }
  }
  if (met.length === 0) return { outcome: 'not_met', level: 'none', sentences: [unmetInWords(unmet)] }
  const part = unmet.length === 0 ? [] : [unmetInWords(unmet)]
  return { outcome: 'survived', level: 'ok', sentences: ['the same money, and it ended well', ...part] }
}

/** "your client ended with code 1" */
function yourEnd({ end }: Observation): string {
  if (end.timedOut) return 'your client was not done in time'
  return codeOfEnd(end) === 0 ? 'your client ended well' : endInWords(end).replace('the command', 'your client')
}

/**
 * Differences between the requests of two runs, the most telling first: "deposit#1@alice was answered 201 instead of 200", "the last answer
 * was 422 insufficient_balance, to withdraw#1@alice", "list_transactions#1@alice was never asked for".
 */
function howItDiffers(seen: Observation, unharmed: Observation, { stable }: TrialExpectation): string[] {
  const [now, before] = [seen, unharmed].map(({ evidence: { exchanges } }) => {
    const places = placesOf(exchanges, stable)
    return new Map(places.map(({ position, answer }) => [positionName(position), answer]))
  })
  if (!now || !before) return []
  const lost = seen.evidence.exchanges.find(({ operation }) => operation === null)
  const isLostAnyway = unharmed.evidence.exchanges.some(({ operation }) => operation === null)
  const other = [...now].find(([name, answer]) => before.has(name) && before.get(name) !== answer)
  const more = [...now].find(([name]) => !before.has(name))
  const gone = [...before.keys()].find((name) => !now.has(name))
  const last = [...now].at(-1)
  const isNamed = [other?.[0], more?.[0]].includes(last?.[0])
  return [
    ...(lost && !isLostAnyway ? [`${requestInWords(lost)} was answered ${lost.response?.status ?? lost.end}`] : []),
    ...(other ? [`${other[0]} was answered ${other[1]} instead of ${before.get(other[0])}`] : []),
    ...(more ? [`${more[0]} was asked for in addition, and answered ${more[1]}`] : []),
    ...(last && gone !== undefined && !isNamed ? [`the last answer was ${last[1]}, to ${last[0]}`] : []),
    ...(gone === undefined ? [] : [`${gone} was never asked for`]),
  ]
}

function requestInWords({ request: { method, path } }: RecordedExchange): string {
  return `${method} ${shorten(path, 100)}`
}
