import type { UserMoney } from '../../domain/money.ts'
import { LEVELS, type Level } from '../../oracle/outcome.ts'
import { exchangeLine } from '../../verdict/build-report.ts'
import type { ExchangeLine } from '../../verdict/report.ts'
import type { TrialMoney, TrialResult } from '../exploration.ts'
import type { Observation } from '../run/exploration-sandbox.ts'
import { compareMoney, ownedMoney, usersInPairs } from './compare-money.ts'
import type { TrialExpectation, TrialJudgement } from './judge-trial.ts'

/** Maximum number of exchanges, and of amounts, that are shown of a trial. */
const MOST = 24

/** Returns exchanges and money of a trial whose outcome is worse than a note; nothing of any other. */
export function shownTrial(
  seen: Observation,
  judgement: TrialJudgement,
  expected: TrialExpectation,
): Pick<TrialResult, 'exchanges' | 'money'> {
  if (!isNotable(judgement.level)) return {}
  return { exchanges: shownExchanges(seen, judgement), money: shownMoney(seen, judgement, expected) }
}

function isNotable(level: Level): boolean {
  return LEVELS.indexOf(level) < LEVELS.indexOf('note')
}

/** The exchanges of operations that went wrong, the worst operations first where there are too many, then those that a fault struck. */
function shownExchanges({ evidence }: Observation, { operations }: TrialJudgement): ExchangeLine[] {
  const known = [...evidence.kept, ...evidence.exchanges]
  const wrong = operations.filter(({ level }) => isNotable(level)).flatMap(({ request_ids }) => request_ids)
  const struck = known.filter(({ faults }) => faults.length > 0).map(({ request_id }) => request_id)
  const ids = new Set([...new Set([...wrong, ...struck])].slice(0, MOST))
  const shown = known.filter(({ request_id }) => ids.has(request_id))
  const start = Date.parse(shown[0]?.began.wall ?? '')
  return shown.map((exchange) => exchangeLine(exchange, start))
}

/** Money that is not where it was without faults, then that of end users whose operations went wrong. */
function shownMoney(
  { money, evidence: { exchanges } }: Observation,
  { operations }: TrialJudgement,
  { money: wanted, stable }: TrialExpectation,
): TrialMoney[] {
  const actual = ownedMoney(money, exchanges, stable)
  const same = wanted.find((one) => compareMoney(one, actual).length === 0) ?? wanted[0]
  if (!same) return []
  const concerned = new Set(
    operations
      .filter(({ level }) => isNotable(level))
      .map(({ tenant, external_id }) => JSON.stringify([tenant, external_id])),
  )
  const all = usersInPairs(same, actual).flatMap(([, before, after]) => poolsOf(before, after))
  const differs = ({ expected_minor, is_minor }: TrialMoney) => expected_minor !== is_minor
  const others = all.filter((one) => !differs(one) && concerned.has(JSON.stringify([one.tenant, one.external_id])))
  return [...all.filter(differs), ...others].slice(0, MOST)
}

/** Deposits less withdrawals of one end user in each pool, without faults and in the trial. */
function poolsOf(expected: UserMoney | undefined, actual: UserMoney | undefined): TrialMoney[] {
  const user = actual ?? expected
  if (!user) return []
  const pools = [...(expected?.pools ?? []), ...(actual?.pools ?? [])]
  return [...new Set(pools.map(({ pool_id }) => pool_id))].flatMap((id) => {
    const [wanted, came] = [expected, actual].map((one) => one?.pools.find(({ pool_id }) => pool_id === id))
    const pool = came ?? wanted
    if (!pool) return []
    const { pool_id, token_symbol, token_decimals } = pool
    const moved = pool.transfers.reduce(
      (sum, { type, amount_minor }) => sum + BigInt(amount_minor) * (type === 'deposit' ? 1n : -1n),
      0n,
    )
    return {
      ...{ tenant: user.tenant, external_id: user.external_id, pool_id, token_symbol, token_decimals },
      before_minor: String(BigInt(pool.principal) - moved),
      expected_minor: wanted?.principal ?? '0',
      is_minor: came?.principal ?? '0',
    }
  })
}
