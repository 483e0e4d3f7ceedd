import { grouped } from '../support/maps.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import { madeBy, madeName } from './compare-runs.ts'
import type { Facts, Sibling } from './facts.ts'
import { judgeOperations } from './judge-operations.ts'
import { isHandedOver, operationsOf } from './operation.ts'

/** The common name of end users whose names change from run to run. */
const OTHERS = 'other end users'

/** Names of end users that are the same in every run; `amounts` is true if amounts are the same as well. */
export interface Lasting {
  names: ReadonlySet<string>
  amounts: boolean
}

/** Merges runs without faults into one to compare with: where they differ, the higher counts. */
export function siblingOf(runs: readonly Facts[], { names, amounts }: Lasting): Sibling {
  const whoIs: Sibling['whoIs'] = (tenant, externalId) =>
    externalId !== null && names.has(externalId) ? JSON.stringify([tenant, externalId]) : OTHERS
  const countsOf = runs.map((facts) => madeIn(facts, { whoIs, amounts }))
  const lists = runs.map((facts) => listsIn(facts, whoIs))
  const outcomes = new Set(runs.flatMap((facts) => judgeOperations(facts).map(({ outcome }) => outcome)))
  const most = (counts: readonly ReadonlyMap<string, number>[], name: string) =>
    Math.max(0, ...counts.map((count) => count.get(name) ?? 0))
  const every = new Map(countsOf.flatMap(({ entries }) => [...entries]))
  return {
    whoIs,
    lists: (operation, who) => most(lists, listName(operation, who)),
    made: [...every].map(([name, made]) => ({
      ...made,
      count: most(
        countsOf.map(({ counts }) => counts),
        name,
      ),
    })),
    amounts,
    key_again: outcomes.has('key_again'),
  }
}

function madeIn(facts: Facts, sibling: Pick<Sibling, 'whoIs' | 'amounts'>) {
  const done = operationsOf(facts).filter(({ state }) => state === 'done')
  const made = done.map((operation) => madeBy(operation, sibling))
  const groups = grouped(made, madeName)
  return {
    counts: new Map([...groups].map(([name, group]) => [name, group.length])),
    entries: new Map(made.map((one) => [madeName(one), one])),
  }
}

function listsIn({ exchanges }: Facts, whoIs: Sibling['whoIs']): Map<string, number> {
  const answered = exchanges.filter(isHandedOver)
  const groups = grouped(answered, ({ operation, tenant, external_id }) =>
    listName(operation, whoIs(tenant, external_id)),
  )
  return new Map([...groups].map(([name, group]) => [name, group.length]))
}

function listName(operation: RecordedExchange['operation'], who: string): string {
  return `${operation} ${who}`
}
