import type { Store } from '../domain/ports/store.ts'
import { inTurns, stepByStep } from '../support/breathe.ts'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import { SHOWN_AT_ONCE } from '../traffic/page-exchanges.ts'
import type { UncountedExchange } from '../traffic/recorded-exchange.ts'
import type { Evidence } from '../verdict/finding.ts'
import type { ReportedFinding } from '../verdict/report.ts'
import type { Headline, OperationRow } from './contract.ts'
import { headlineOf, NO_HEADLINE } from './headline.ts'
import { joinsOf } from './join-operations.ts'
import type { JudgedOperations } from './judged-operations.ts'
import { type OperationFacts, readOperationFacts } from './operation-facts.ts'
import { type OperationGroup, OperationIndex } from './operation-index.ts'
import { type JudgedRow, rowOf } from './operation-row.ts'

/** What a view of the operations reads. */
export interface ViewSources {
  exchanges: ExchangeLog
  store: Store
  /** Seed of the namespace. */
  seed: number
  /** Evidence for the judgement; throws while the namespace cannot serve. */
  evidence(): Promise<Evidence>
}

/** Rows that are new or have changed, and numbers of rows that are part of another one now. */
export interface ViewChange {
  /** Newest first. */
  groups: OperationGroup[]
  gone: number[]
}

/** A judgement that the view does not show yet. */
export interface JudgementOfView {
  waiting: ReadonlySet<OperationGroup>
  judged: JudgedOperations
}

/** An operation as it is now. */
export interface ReadOperation {
  row: OperationRow
  facts: OperationFacts
  findings: readonly ReportedFinding[]
}

/**
 * The operations of a namespace, kept up to date by the numbers of the exchanges that changed. A row shows what the requests show until
 * the oracle has judged it, and again from its next change on.
 */
export class OperationsView {
  readonly #sources: ViewSources
  readonly #index: OperationIndex
  #judged: JudgedOperations | undefined
  /** By the number of an operation, the number of the row that it belongs to. */
  #joins: ReadonlyMap<number, number> = new Map()
  /** The operations of a row beside its own. */
  #joined: ReadonlyMap<number, readonly OperationGroup[]> = new Map()
  /** Operations that changed after the last judgement began. */
  #unjudged = new Set<OperationGroup>()
  /** Operations whose judgement is under way. */
  #underJudgement: ReadonlySet<OperationGroup> = new Set()
  #headline: Headline = NO_HEADLINE

  constructor(sources: ViewSources) {
    this.#sources = sources
    this.#index = new OperationIndex(sources.exchanges)
  }

  /** Number of rows. */
  get total(): number {
    return this.#index.size - this.#joins.size
  }

  get headline(): Headline {
    return this.#headline
  }

  /** Number of rules that the last judgement found broken; null before the first one. */
  get brokenRules(): number | null {
    return this.#judged?.rules.contradicted ?? null
  }

  /** True if the judgement is of everything that the view has. */
  get judged(): boolean {
    return this.#judged !== undefined && this.#unjudged.size + this.#underJudgement.size === 0
  }

  /** The judgement of everything that the view has; undefined while one is to come. */
  get judgement(): JudgedOperations | undefined {
    return this.judged ? this.#judged : undefined
  }

  get oldestMoney(): number | null {
    return this.#index.oldestMoney
  }

  /** Takes in everything on record: for a new view. */
  async begin(): Promise<void> {
    const { changed } = await stepByStep(this.#index.begin())
    this.#unjudged = changed
  }

  /** Takes in the exchanges of these numbers. */
  async update(numbers: Iterable<number>): Promise<ViewChange> {
    const { changed, gone } = await stepByStep(this.#index.update(numbers))
    for (const group of this.#unjudged) if (this.#index.of(group.number) !== group) this.#unjudged.delete(group)
    for (const group of changed) this.#unjudged.add(group)
    if (changed.size === 0 && gone.length === 0) return { groups: [], gone }
    this.#relink()
    const rows = new Set([...changed].map((group) => this.#rowOf(group)))
    return { groups: newestFirst(rows), gone }
  }

  /** Loads what judges, at the first judgement: the code is long, and most runs never need it. */
  async prepare(): Promise<void> {
    await import('./judged-operations.ts')
  }

  /** Judges everything anew; other tasks run in between. Throws what the evidence throws. */
  async judge(): Promise<JudgementOfView> {
    const waiting = this.#unjudged
    const during = new Set<OperationGroup>()
    this.#unjudged = during
    this.#underJudgement = waiting
    try {
      const evidence = await this.#sources.evidence()
      const { judgeForOverview } = await import('./judged-operations.ts')
      const judged = await judgeForOverview(evidence, this.#sources.seed)
      await stepByStep(this.#index.name())
      return { waiting, judged }
    } catch (error) {
      for (const group of waiting) during.add(group)
      this.#underJudgement = new Set()
      throw error
    }
  }

  /** Shows a judgement. The rows that have another outcome then, or belong to another row, have changed. */
  show({ waiting, judged }: JudgementOfView): ViewChange {
    const before = this.#judged
    const joins = this.#joins
    this.#underJudgement = new Set()
    this.#judged = judged
    this.#joins = joinsOf(judged.outcomes, (id) => this.#index.ofRequest(id))
    this.#relink()
    this.#headline = headlineOf(judged, (id) => {
      const group = this.#index.ofRequest(id)
      return group && this.#rowOf(group).number
    })
    const changed = new Set([...waiting].filter(({ moves_money }) => moves_money))
    for (const id of differences(before, judged)) {
      const group = this.#index.ofRequest(id)
      if (group) changed.add(group)
    }
    for (const number of [...joins.keys(), ...this.#joins.keys()]) {
      const group = joins.get(number) === this.#joins.get(number) ? undefined : this.#index.of(number)
      if (group) changed.add(group)
    }
    const rows = new Set([...changed].flatMap((group) => this.find(group.number) ?? []))
    return { groups: newestFirst(rows), gone: [...this.#joins.keys()].filter((number) => !joins.has(number)) }
  }

  /** Rows with a lower number, newest first. */
  *newestFirst(before?: number): Generator<OperationGroup> {
    for (const group of this.#index.newestFirst(before)) if (!this.#joins.has(group.number)) yield group
  }

  /** The row of this number, or that one of its requests has. */
  find(number: number): OperationGroup | undefined {
    const group = this.#index.of(number)
    return group && this.#rowOf(group)
  }

  /** Makes the rows of these operations, in their order; those forgotten meanwhile are left out. */
  async rows(groups: readonly OperationGroup[]): Promise<OperationRow[]> {
    const rows: OperationRow[] = []
    for await (const group of inTurns(groups, SHOWN_AT_ONCE)) {
      const shown = await this.read(group)
      if (shown) rows.push(shown.row)
    }
    return rows
  }

  /** The row of an operation, the facts and the findings that it is made from; undefined if it is forgotten. */
  async read(group: OperationGroup): Promise<ReadOperation | undefined> {
    const exchanges = [...this.#sources.exchanges.uncounted(this.#numbersOf(group))]
    if (exchanges.length === 0) return undefined
    const facts = await readOperationFacts(exchanges, this.#sources.store)
    const judgement = this.#judgementOf(group, exchanges)
    return { row: rowOf(facts, judgement), facts, findings: judgement.findings }
  }

  /** Numbers of all requests of a row, oldest first. */
  #numbersOf(group: OperationGroup): number[] {
    const joined = this.#joined.get(group.number) ?? []
    return [group, ...joined].flatMap(({ numbers }) => numbers).sort((a, b) => a - b)
  }

  /** The judgement of a row, as far as it still holds. */
  #judgementOf(group: OperationGroup, exchanges: readonly UncountedExchange[]): JudgedRow {
    const groups = [group, ...(this.#joined.get(group.number) ?? [])]
    const isChanged = (one: OperationGroup) => this.#unjudged.has(one) || this.#underJudgement.has(one)
    const isOld = groups.length === 1 && groups.some(isChanged)
    const ids = new Map(exchanges.map(({ number, request_id }) => [number, request_id]))
    const outcomes = isOld
      ? []
      : groups.flatMap(({ number }) => this.#judged?.byOperation.get(ids.get(number) ?? '') ?? [])
    const findings = exchanges.flatMap(({ request_id }) => this.#judged?.byRequest.get(request_id) ?? [])
    return { outcomes, findings: [...new Set(findings)] }
  }

  #rowOf(group: OperationGroup): OperationGroup {
    const number = this.#joins.get(group.number)
    return (number === undefined ? undefined : this.#index.of(number)) ?? group
  }

  /** Links rows again with the operations that belong to them, after the index has made other groups. */
  #relink(): void {
    const joins = new Map<number, number>()
    const joined = new Map<number, OperationGroup[]>()
    for (const [number, row] of this.#joins) {
      const group = this.#index.of(number)
      const first = this.#index.of(row)
      if (!group || !first || group === first || group.number !== number || first.number !== row) continue
      joins.set(number, row)
      joined.set(row, [...(joined.get(row) ?? []), group])
    }
    this.#joins = joins
    this.#joined = joined
  }
}

function newestFirst(groups: Iterable<OperationGroup>): OperationGroup[] {
  return [...groups].sort((a, b) => b.number - a.number)
}

/** Ids of requests of which two judgements say different things. */
function* differences(before: JudgedOperations | undefined, now: JudgedOperations): Generator<string> {
  const outcomesOf = (judged: JudgedOperations | undefined, id: string) =>
    (judged?.byOperation.get(id) ?? []).map(({ outcome, level }) => `${outcome} ${level}`).join()
  const findingsOf = (judged: JudgedOperations | undefined, id: string) =>
    (judged?.byRequest.get(id) ?? []).map((finding) => `${finding.id} ${finding.outcome}`).join()
  for (const id of new Set([...(before?.byOperation.keys() ?? []), ...now.byOperation.keys()])) {
    if (outcomesOf(before, id) !== outcomesOf(now, id)) yield id
  }
  for (const id of new Set([...(before?.byRequest.keys() ?? []), ...now.byRequest.keys()])) {
    if (findingsOf(before, id) !== findingsOf(now, id)) yield id
  }
}
