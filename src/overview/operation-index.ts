import {
  type AttemptIdentity,
  canonicalBody,
  groupAttempts,
  isMismatch,
  JUDGED_OPERATIONS,
  placeOfAttempt,
} from '../oracle/operation.ts'
import { atOnce } from '../support/breathe.ts'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import type { ExchangeOutline } from '../traffic/show-exchange.ts'

/** The requests of one operation. */
export interface OperationGroup {
  /** Number of the first one. */
  number: number
  /** Oldest first. */
  numbers: readonly number[]
  operation: AttemptIdentity['operation']
  moves_money: boolean
}

/** Result of an update of the index. */
export interface IndexChange {
  /** Groups that are new, or of which a request has changed. */
  changed: Set<OperationGroup>
  /** Numbers of groups that are part of another one now. */
  gone: number[]
}

/** The record by which an operation is grouped. */
type IndexLog = Pick<ExchangeLog, 'range' | 'keptNumbers' | 'has' | 'outlines' | 'requestIdOf'>

/** A request; its id is its number. */
type Member = AttemptIdentity & { id: number }

/** Numbers that are new, changed or dropped, by their {@link placeOfAttempt}. */
type TouchedPlaces = Map<string, number[]>

/** Number of exchanges, and of places, after which others have their turn. */
const AT_ONCE = 500

/**
 * The operations of a record, kept up to date by the numbers of the exchanges that changed. An exchange costs some microseconds: nothing
 * is decoded.
 */
export class OperationIndex {
  readonly #log: IndexLog
  /** By number. */
  readonly #groups = new Map<number, OperationGroup>()
  /** Keyed writes by {@link placeOfAttempt}: most have one to themselves, several are by number. */
  readonly #places = new Map<string, Member | Map<number, Member>>()
  /** The place of each keyed write. */
  readonly #placeOf = new Map<number, string>()
  /** Numbers of exchanges by request id, and the other way round. Only judgements need them, so they are looked up for those. */
  readonly #byRequest = new Map<string, number>()
  readonly #requestOf = new Map<number, string>()
  readonly #unnamed = new Set<number>()
  readonly #groupOf = new Map<number, OperationGroup>()
  #oldest: number

  constructor(log: IndexLog) {
    this.#log = log
    this.#oldest = log.range.oldest
  }

  /** Takes in the whole record, in steps: for the first update. */
  begin(): Generator<undefined, IndexChange> {
    const { oldest, next } = this.#log.range
    return this.update([...this.#log.keptNumbers(), ...Array.from({ length: next - oldest }, (_, i) => oldest + i)])
  }

  /** Number of operations. */
  get size(): number {
    return this.#groups.size
  }

  /** The group that has a number as its own or as that of one of its requests. */
  of(number: number): OperationGroup | undefined {
    return this.#groupOf.get(number)
  }

  /** Looks up the requests' ids, in steps, so that {@link ofRequest} need not do it at once. */
  *name(): Generator<undefined, void> {
    let count = 0
    for (const number of this.#unnamed) {
      this.#unnamed.delete(number)
      const id = this.#log.requestIdOf(number)
      if (id === undefined) continue
      this.#byRequest.set(id, number)
      this.#requestOf.set(number, id)
      count++
      if (count % AT_ONCE === 0) yield
    }
  }

  /** The group of a request. */
  ofRequest(requestId: string): OperationGroup | undefined {
    if (this.#unnamed.size > 0 && !this.#byRequest.has(requestId)) atOnce(this.name())
    const number = this.#byRequest.get(requestId)
    return number === undefined ? undefined : this.#groupOf.get(number)
  }

  /** The oldest number of a group that moves money; null for none. */
  get oldestMoney(): number | null {
    for (const number of this.#placeOf.keys()) return number
    return null
  }

  /** Groups with a lower number, newest first. */
  *newestFirst(before = Number.POSITIVE_INFINITY): Generator<OperationGroup> {
    const { oldest, next } = this.#log.range
    for (let number = Math.min(next, before) - 1; number >= oldest; number--) {
      const group = this.#groups.get(number)
      if (group) yield group
    }
    for (const number of this.#log.keptNumbers().reverse()) {
      const group = number < Math.min(oldest, before) ? this.#groups.get(number) : undefined
      if (group) yield group
    }
  }

  /** Takes in exchanges that are new or have changed, and drops those that the record has forgotten; in steps. */
  *update(numbers: Iterable<number>): Generator<undefined, IndexChange> {
    const change: IndexChange = { changed: new Set(), gone: [] }
    const dirty: TouchedPlaces = new Map()
    const sorted = [...numbers].sort((a, b) => a - b)
    let count = 0
    for (const outline of this.#log.outlines(sorted)) {
      this.#take(outline, change, dirty)
      count++
      if (count % AT_ONCE === 0) yield
    }
    this.#dropForgotten(change, dirty)
    for (const [place, touched] of dirty) {
      this.#regroup(place, touched, change)
      count++
      if (count % AT_ONCE === 0) yield
    }
    return change
  }

  #take(outline: ExchangeOutline, { changed }: IndexChange, dirty: TouchedPlaces): void {
    const { number, operation } = outline
    const moves_money = JUDGED_OPERATIONS.includes(operation)
    if (!moves_money && !this.#isHere(number)) return // kept as evidence for others
    const member = memberOf(outline)
    if (!this.#requestOf.has(number)) this.#unnamed.add(number)
    if (!moves_money || member.key === null) {
      this.#add(this.#groups.get(number) ?? { number, numbers: [number], operation, moves_money }, changed)
      return
    }
    const place = placeOfAttempt(member)
    const known = this.#places.get(place)
    this.#placeOf.set(number, place)
    if (known) {
      const members = known instanceof Map ? known : new Map([[known.id, known]])
      this.#places.set(place, members.set(number, member))
      touch(dirty, place, number)
      return
    }
    this.#places.set(place, member)
    this.#add(groupOf([member]), changed)
  }

  #add(group: OperationGroup, changed: Set<OperationGroup>): void {
    this.#groups.set(group.number, group)
    this.#groupOf.set(group.number, group)
    changed.add(group)
  }

  #isHere(number: number): boolean {
    return number >= this.#log.range.oldest
  }

  /** An exchange that the record has no room for any more stays if it is a write that is kept. */
  #dropForgotten(change: IndexChange, dirty: TouchedPlaces): void {
    const { oldest } = this.#log.range
    if (oldest === this.#oldest) return
    this.#oldest = oldest
    for (const [number, group] of this.#groupOf) {
      if (number >= oldest) continue
      if (group.moves_money && this.#log.has(number)) continue
      this.#drop(number, dirty)
    }
    for (const group of change.changed) if (!this.#groups.has(group.number)) change.changed.delete(group)
  }

  #drop(number: number, dirty: TouchedPlaces): void {
    this.#groupOf.delete(number)
    this.#byRequest.delete(this.#requestOf.get(number) ?? '')
    this.#requestOf.delete(number)
    this.#unnamed.delete(number)
    const place = this.#placeOf.get(number)
    if (place === undefined) {
      this.#groups.delete(number)
      return
    }
    this.#placeOf.delete(number)
    const known = this.#places.get(place)
    if (known instanceof Map) known.delete(number)
    else this.#places.delete(place)
    touch(dirty, place, number)
  }

  #regroup(place: string, touched: readonly number[], { changed, gone }: IndexChange): void {
    const here = this.#places.get(place)
    const members = here instanceof Map ? [...here.values()] : here ? [here] : []
    if (members.length === 0) this.#places.delete(place)
    const before = new Set(members.flatMap(({ id }) => this.#groupOf.get(id) ?? []))
    for (const number of touched) {
      const group = this.#groups.get(number)
      if (group) before.add(group)
    }
    const groups = groupAttempts(members).map((group) => groupOf(group))
    const known = new Map([...before].map((group) => [group.number, group]))
    for (const { number } of before) this.#groups.delete(number)
    for (const group of groups) {
      const old = known.get(group.number)
      known.delete(group.number)
      const same = old && equal(old.numbers, group.numbers) ? old : group
      this.#groups.set(group.number, same)
      for (const number of group.numbers) this.#groupOf.set(number, same)
      if (same !== old || group.numbers.some((number) => touched.includes(number))) changed.add(same)
      if (old && same !== old) changed.delete(old)
    }
    for (const old of known.values()) changed.delete(old)
    gone.push(...known.keys())
  }
}

function memberOf({ number, operation, tenant, external_id, key, body, refused }: ExchangeOutline): Member {
  const isOther = isMismatch({ refusal: refused === null ? null : { code: refused } })
  const other_body = isOther ? (canonicalBody(body) ?? String(number)) : null
  return { id: number, operation, tenant, external_id, key: key?.toLowerCase() ?? null, other_body }
}

function groupOf(members: readonly Member[]): OperationGroup {
  const numbers = members.map(({ id }) => id)
  const { id: number = 0, operation = null } = members[0] ?? {}
  return { number, numbers, operation, moves_money: true }
}

function touch(dirty: TouchedPlaces, place: string, number: number): void {
  const touched = dirty.get(place)
  if (touched) touched.push(number)
  else dirty.set(place, [number])
}

function equal(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((number, i) => number === b[i])
}
