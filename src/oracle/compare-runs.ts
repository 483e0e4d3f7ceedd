import { grouped } from '../support/maps.ts'
import type { Facts, Made, Sibling } from './facts.ts'
import { type ClientOperation, firstBeginOf } from './operation.ts'
import type { OutcomeId } from './outcome.ts'

/** An operation, and its outcome when judged alone; undefined for none. */
export interface JudgedOperation {
  operation: ClientOperation
  outcome: OutcomeId | undefined
}

/** A result of the comparison. An operation that was never sent has no attempts. */
export interface Difference {
  outcome: OutcomeId
  operation: ClientOperation
}

/** Terms of a comparison of runs. */
export interface RunComparison {
  sibling: Sibling
  end: Facts['end']
  /** Number of an exchange: operations whose first request came later belong to a further start of the command and are no surplus. */
  restarted: number
  /** True if the client was killed and started again, or ran twice at once: what it does once more then is the same order. */
  repeats: boolean
}

const TWICE: readonly (OutcomeId | undefined)[] = ['paid_twice', 'paid_twice_put_right', 'made_twice']
const KNOWN: readonly (OutcomeId | undefined)[] = ['told', 'found']

/**
 * Compares a run with the unharmed one and returns differences that its operations do not show by themselves: more of them than there,
 * other amounts, operations that were never asked for.
 */
export function compareRuns(judged: readonly JudgedOperation[], comparison: RunComparison): Difference[] {
  const { sibling } = comparison
  const nameOf = ({ operation }: JudgedOperation) => placeName(madeBy(operation, sibling))
  const came = grouped(judged, nameOf)
  const expected = grouped(sibling.made, placeName)
  const places = new Set([...expected.keys(), ...came.keys()])
  return [...places].flatMap((place) =>
    comparePlace(expected.get(place) ?? [], came.get(place) ?? [], { ...comparison, judged }),
  )
}

/** Compares the operations of one end user, pool and type. */
function comparePlace(
  expected: readonly (Made & { count: number })[],
  came: readonly JudgedOperation[],
  comparison: RunComparison & { judged: readonly JudgedOperation[] },
): Difference[] {
  const { sibling, judged, end, restarted, repeats } = comparison
  const wanted = new Map(expected.map((made) => [madeName(made), made.count]))
  const groups = grouped(came, ({ operation }) => madeName(madeBy(operation, sibling)))
  const more = [...groups].flatMap(([name, group]) => surplusOf(group, wanted.get(name) ?? 0, restarted))
  const fewer = expected.flatMap((made) => {
    const asked = (groups.get(madeName(made)) ?? []).length + unknown(made, judged, sibling)
    return Array.from({ length: Math.max(0, made.count - asked) }, () => made)
  })
  const isNew = ({ operation }: JudgedOperation) => !wanted.has(madeName(madeBy(operation, sibling)))
  const changed = more.filter(isNew)
  const missing = fewer.slice(changed.length)
  const others = more.filter((one) => !isNew(one) || changed.indexOf(one) >= fewer.length)
  return [
    ...changed.slice(0, fewer.length).map(({ operation }) => ({ outcome: 'another_amount' as const, operation })),
    ...others.map((one) => ({
      outcome: surplusOutcome(one, { isNew: isNew(one), judged, repeats }),
      operation: one.operation,
    })),
    ...missing.map((made) => ({
      outcome: end === 'well' ? ('not_asked_for' as const) : ('stopped' as const),
      operation: neverSent(made, judged, sibling),
    })),
  ]
}

/** Operations carried out beyond the wanted number, the last ones; those known to be paid twice are not reported again. */
function surplusOf(group: readonly JudgedOperation[], wanted: number, restarted: number): JudgedOperation[] {
  const isOfFirstStart = ({ attempts }: ClientOperation) => (attempts[0]?.exchange.number ?? 0) <= restarted
  const done = group.filter(({ operation }) => operation.state === 'done' && isOfFirstStart(operation))
  const said = done.filter(({ outcome }) => TWICE.includes(outcome)).length
  const count = Math.max(0, done.length - said - wanted)
  return count === 0 ? [] : done.filter(({ outcome }) => !TWICE.includes(outcome)).slice(-count)
}

interface Surplus {
  /** True if the other run has none of this kind. */
  isNew: boolean
  judged: readonly JudgedOperation[]
  repeats: boolean
}

function surplusOutcome({ operation }: JudgedOperation, { isNew, judged, repeats }: Surplus): OutcomeId {
  if (operation.type === 'create_portfolio') return 'made_twice'
  if (operation.type === 'deposit') return isNew ? 'another_amount' : 'paid_twice'
  if (repeats && !isNew) return 'paid_twice'
  return isPaidIn(operation, judged) ? 'taken_back' : 'took_out_unpaid'
}

/**
 * @returns true if a deposit of at least this amount was made into the same pool before, and its client knew of it. If a deposit of
 * exactly this amount was asked for and never made, the withdrawal takes that one back, so only an equal deposit counts.
 */
function isPaidIn(withdrawal: ClientOperation, judged: readonly JudgedOperation[]): boolean {
  const deposits = judged.filter(({ operation }) => isBefore(operation, withdrawal))
  const known = deposits.filter(({ outcome }) => KNOWN.includes(outcome))
  const isEqual = ({ operation }: JudgedOperation) => operation.wish !== null && operation.wish === withdrawal.wish
  const isMissed = deposits.some((one) => isEqual(one) && one.operation.state === 'not_done')
  return isMissed ? known.some(isEqual) : known.some(({ operation }) => isAsMuch(operation, withdrawal))
}

/** @returns true if the deposit went into the pool of the withdrawal and was asked for before it */
function isBefore(
  { type, tenant, external_id, pool_id, ...deposit }: ClientOperation,
  withdrawal: ClientOperation,
): boolean {
  return (
    type === 'deposit' &&
    tenant === withdrawal.tenant &&
    external_id === withdrawal.external_id &&
    pool_id === withdrawal.pool_id &&
    firstBeginOf(deposit) <= firstBeginOf(withdrawal)
  )
}

function isAsMuch({ amount_minor: paid }: ClientOperation, { amount_minor: taken }: ClientOperation): boolean {
  return !isAmount(paid) || !isAmount(taken) || BigInt(paid) >= BigInt(taken)
}

/** @returns false for an invalid amount, and for one that no request shows */
function isAmount(text: string | null): text is string {
  return text !== null && /^\d+$/.test(text)
}

/** Number of operations that may be `made`, since no request shows what they ask for. */
function unknown(made: Made, judged: readonly JudgedOperation[], sibling: Sibling): number {
  return judged.filter(({ operation }) => {
    const { who, type, pool_id, amount_minor } = madeBy(operation, sibling)
    const isVague = pool_id === null || (made.amount_minor !== null && amount_minor === null)
    return isVague && who === made.who && type === made.type
  }).length
}

/** The missing operation; without an end user if the name changes from run to run. */
function neverSent(made: Made, judged: readonly JudgedOperation[], sibling: Sibling): ClientOperation {
  const { type, pool_id, amount_minor } = made
  const alike = judged.find(({ operation }) => sibling.whoIs(operation.tenant, operation.external_id) === made.who)
  const [tenant, external_id] = made.who.startsWith('[')
    ? (JSON.parse(made.who) as [string | null, string])
    : [null, null]
  return {
    ...{ tenant: tenant ?? alike?.operation.tenant ?? null, external_id, type, pool_id, amount_minor },
    ...{ key: null, attempts: [], state: 'not_done', transfers: [], portfolio_id: null, wish: null },
  }
}

/** The operation in a form that can be compared between runs. */
export function madeBy(operation: ClientOperation, { whoIs, amounts }: Pick<Sibling, 'whoIs' | 'amounts'>): Made {
  const { tenant, external_id, type, pool_id, amount_minor } = operation
  return { who: whoIs(tenant, external_id), type, pool_id, amount_minor: amounts ? amount_minor : null }
}

/** A key that is the same for equal operations. */
export function madeName({ who, type, pool_id, amount_minor }: Made): string {
  return JSON.stringify([who, type, pool_id, amount_minor])
}

/** A key that is the same for operations of one type, end user and pool, whatever the amount. */
export function placeName({ who, type, pool_id }: Made): string {
  return JSON.stringify([who, type, pool_id])
}
