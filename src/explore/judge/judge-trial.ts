import { codeOfEnd } from '../../exec/exit-code.ts'
import type { CommandEnd } from '../../exec/run-command.ts'
import { succeeded } from '../../verdict/evidence/answers.ts'
import type { TrialOutcome } from '../exploration.ts'
import type { Observation } from '../run/exploration-sandbox.ts'
import { compareMoney, type MoneyDifference } from './compare-money.ts'
import { type OwnedMoney, ownedMoney } from './owned-money.ts'

/** What a run is compared with. */
export interface Expectation {
  /** Where runs without faults leave the money: any of them will do. */
  money: readonly OwnedMoney[]
  /** Names of end users that are the same in every run. */
  stable: ReadonlySet<string>
}

/** What a run came to, and why: one sentence at least. */
export interface Judgement {
  outcome: TrialOutcome
  sentences: string[]
}

/** Judges a run by where the money ended up and how the command did, and by nothing else. */
export function judgeTrial(seen: Observation, expected: Expectation): Judgement {
  const broken = brokenBy(seen)
  if (broken) return { outcome: 'errored', sentences: broken }
  const difference = differenceOf(seen, expected)
  const end = endInWords(seen.end)
  if (seen.end.timedOut) return { outcome: 'hung', sentences: [end, ...(difference?.sentences ?? [])] }
  const { struck } = seen
  if (!struck.every(Boolean)) {
    const which =
      struck.length === 1
        ? 'the fault never struck'
        : `${struck.filter(Boolean).length} of ${struck.length} faults struck`
    return { outcome: 'not_exercised', sentences: [`${which}: no request came to that point`] }
  }
  const well = codeOfEnd(seen.end) === 0
  if (!difference) {
    return well
      ? { outcome: 'survived', sentences: ['the same money'] }
      : { outcome: 'gave_up_safely', sentences: [`the same money, but ${end}`] }
  }
  if (well) return { outcome: 'silently_wrong', sentences: difference.sentences }
  const unknown = unknownTransfers(seen)
  if (difference.stopped && unknown.length === 0) {
    const stopped = `${end}; it stopped there, and nothing was moved that it was not told of`
    return { outcome: 'gave_up_safely', sentences: [stopped, ...difference.sentences] }
  }
  return { outcome: 'noticed_too_late', sentences: [end, ...unknown, ...difference.sentences] }
}

/** Undefined when the money is where one of the runs without faults left it. */
function differenceOf(
  { money, exchanges }: Observation,
  { money: wanted, stable }: Expectation,
): MoneyDifference | undefined {
  const actual = ownedMoney(money, exchanges, stable)
  const differences = wanted.map((one) => compareMoney(one, actual))
  return differences.every(Boolean) ? differences[0] : undefined
}

/** Why nothing can be said of a run. */
function brokenBy({ before, unsettled, audit }: Observation): string[] | undefined {
  if (before) return [`--before failed: ${endInWords(before)}`]
  if (unsettled > 0) return [`${unsettled} transfers were still under way when the command had ended long since`]
  const wrong = audit.checks.filter(({ ok }) => !ok)
  return wrong.length === 0 ? undefined : wrong.map(({ id, detail }) => `the sandbox's audit fails, ${id}: ${detail}`)
}

/** Transfers that were carried out, while no answer told the command so: it gave up without knowing. */
function unknownTransfers({ money, exchanges }: Observation): string[] {
  const told = new Set(exchanges.filter(succeeded).flatMap(({ transfer }) => transfer?.tx_hash ?? []))
  const lists = exchanges.filter((one) => one.operation === 'list_transactions' && succeeded(one))
  const isTold = (hash: string) => told.has(hash) || lists.some(({ response }) => response?.body?.includes(hash))
  return money.users.flatMap(({ external_id, pools }) =>
    pools.flatMap(({ transfers }) =>
      transfers
        .filter(({ tx_hash }) => !isTold(tx_hash))
        .map(({ type }) => `${external_id}: a ${type} was carried out, and no answer that the command got says so`),
    ),
  )
}

/** "the command ended with code 1" */
export function endInWords({ code, signal, timedOut }: CommandEnd): string {
  if (timedOut) return 'the command was not done in time'
  return signal === null ? `the command ended with code ${code ?? 1}` : `the command was ended by ${signal}`
}
