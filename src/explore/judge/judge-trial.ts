import { BooksError } from '../../books/books.ts'
import { judgeBooks } from '../../books/judge-books.ts'
import { unsettledInWords } from '../../exec/aftermath.ts'
import { codeOfEnd, endInWords } from '../../exec/command-end.ts'
import type { Sibling } from '../../oracle/facts.ts'
import { judgeOperations } from '../../oracle/judge-operations.ts'
import { LEVELS, type Level, type OperationOutcome } from '../../oracle/outcome.ts'
import { grouped } from '../../support/maps.ts'
import { afterCrash, crashOutcome } from '../crash/judge-crash.ts'
import type { TrialOutcome, TrialResult } from '../exploration.ts'
import type { Observation } from '../run/exploration-sandbox.ts'
import { compareMoney, type OwnedMoney, ownedMoney } from './compare-money.ts'

/** The runs without faults that a trial is compared with. */
export interface TrialExpectation {
  /** Money after each run without faults: a trial must match one of them. */
  money: readonly OwnedMoney[]
  /** Names of end users that are the same in every run. */
  stable: ReadonlySet<string>
  /** The operations of the runs without faults. */
  sibling: Sibling
  /** Bad outcomes that also occur without faults: a suite that tests refusals has some. */
  usual: readonly OperationOutcome[]
}

/** Judgement of a run, and its reasons. */
export type TrialJudgement = Pick<TrialResult, 'outcome' | 'level' | 'sentences' | 'operations'>

/** Judges a run by the outcomes of its operations, compared with those without faults, and by where the money ended up. */
export function judgeTrial(seen: Observation, expected: TrialExpectation): TrialJudgement {
  const { struck, end } = seen
  const broken = brokenBy(seen)
  if (broken) return { outcome: 'errored', level: 'inconclusive', sentences: broken, operations: [] }
  const { sibling, usual } = expected
  const { crash, twin } = seen
  const { outcomes, cleared } = judgedWithBooks(seen, sibling)
  const fresh = newIn(outcomes, usual, sibling)
  const operations = crash ? afterCrash(fresh, { ...crash, end }) : fresh
  const [worst] = operations
  if (!struck.every(Boolean) && !isBad(worst?.level)) {
    return { outcome: 'not_exercised', level: 'none', sentences: [notStruck(seen)], operations }
  }
  const difference = differenceOf(seen, expected)
  const failed = codeOfEnd(end) === 0 ? [] : [[endInWords(end), ...(crash?.note ? [crash.note] : [])].join('; ')]
  if (worst) {
    const { outcome, level } = worst
    const sentences = [...sentencesOf(operations, level), ...failed, ...(isBad(level) ? difference : [])]
    return { outcome: crash ? crashOutcome(worst) : (outcome as TrialOutcome), level, sentences, operations }
  }
  if (newIn(cleared, usual, sibling).length > 0) {
    const sentences = ['the books are right', ...failed, ...(difference.length > 0 ? difference : ['the same money'])]
    return { outcome: 'survived', level: 'ok', sentences, operations }
  }
  if (difference.length > 0) return { outcome: 'another_amount', level: 'review', sentences: difference, operations }
  if (failed.length > 0) {
    const sentences = [`the same money, but ${failed.join()}`]
    return { outcome: crash || twin ? 'gave_up_safely' : 'gave_up', level: 'warning', sentences, operations }
  }
  const sentences = ['the same money', ...(twin?.said === undefined ? [] : [twin.said])]
  return { outcome: 'survived', level: 'ok', sentences, operations }
}

/** The outcomes of a run, by what its client was told and, if they were asked for, by its own books. */
function judgedWithBooks(
  { evidence, restarted, books, crash, twin }: Observation,
  sibling: Sibling,
): { outcomes: OperationOutcome[]; cleared: OperationOutcome[] } {
  const outcomes = judgeOperations(
    evidence,
    crash ? { sibling, starts: crash.starts } : { sibling, restarted, twin: twin?.address },
  )
  if (books === undefined || books instanceof BooksError) return { outcomes, cleared: [] }
  return judgeBooks(outcomes, books, evidence, sibling)
}

/** @returns true if a client with this outcome is not fit for production */
export function isBad(level: Level | undefined): boolean {
  return level === 'critical' || level === 'serious'
}

/** Bad outcomes that occur more often than without faults. */
function newIn(
  outcomes: readonly OperationOutcome[],
  usual: readonly OperationOutcome[],
  { whoIs }: Sibling,
): OperationOutcome[] {
  const nameOf = ({ outcome, type, tenant, external_id }: OperationOutcome) =>
    JSON.stringify([outcome, type, whoIs(tenant, external_id)])
  const left = new Map([...grouped(usual, nameOf)].map(([name, group]) => [name, group.length]))
  return outcomes.filter((one) => {
    if (one.level === 'ok' || one.level === 'none') return false
    const name = nameOf(one)
    const count = left.get(name) ?? 0
    left.set(name, count - 1)
    return count <= 0
  })
}

/** Sentences of the worst level and of those that need review, each once: a note does not stand beside a loss. */
function sentencesOf(operations: readonly OperationOutcome[], worst: Level): string[] {
  const shown = operations.filter(
    ({ level }) => LEVELS.indexOf(level) <= Math.max(LEVELS.indexOf(worst), LEVELS.indexOf('review')),
  )
  return [...new Set(shown.map(({ sentence }) => sentence))]
}

function notStruck({ struck, takenAway }: Observation): string {
  const many =
    struck.length > 1 ? `${struck.filter(Boolean).length} of ${struck.length} faults struck` : 'the fault never struck'
  return takenAway ? `${many}: the command took it away` : `${many}: no request came to that point`
}

/** Differences between the money of a run and that of the first run without faults; empty when it equals that of any of them. */
export function differenceOf(
  { money, evidence: { exchanges } }: Observation,
  { money: wanted, stable }: TrialExpectation,
): string[] {
  const actual = ownedMoney(money, exchanges, stable)
  const differences = wanted.map((one) => compareMoney(one, actual))
  return differences.every(({ length }) => length > 0) ? (differences[0] ?? []) : []
}

/** The end of a process of the sandbox within a run, in words: it is no fault of the run's, and none of the client's. */
export function disturbanceOf({
  taken_over,
  exchanges,
}: Pick<Observation['evidence'], 'taken_over' | 'exchanges'>): string | undefined {
  // Its faults and the record of what came before ended with the process that had them.
  if (taken_over !== undefined) return 'another process of the fleet took the namespace over'
  if (exchanges.some(({ end }) => end === 'cut_off'))
    return 'a reset, or the end of a process of the sandbox, cut a request off'
  return undefined
}

/** Reasons why a run cannot be judged. */
function brokenBy({ before, unsettled, audit, books, evidence }: Observation): string[] | undefined {
  if (before) return [`--before failed: ${endInWords(before)}`]
  const disturbance = disturbanceOf(evidence)
  if (disturbance !== undefined) return [`${disturbance} during the run`]
  if (unsettled > 0) return [unsettledInWords(unsettled)]
  if (books instanceof BooksError) return [books.message]
  const wrong = audit.checks.filter(({ ok }) => !ok)
  return wrong.length === 0 ? undefined : wrong.map(({ id, detail }) => `the sandbox's audit fails, ${id}: ${detail}`)
}
