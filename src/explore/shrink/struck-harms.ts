import type { RunTrace } from '../../exec/sandbox-run.ts'
import type { Harm } from '../exploration.ts'
import { placesOf } from '../plan/positions.ts'

/**
 * What struck a run, one harm for each request that was struck, in their order: neither chance nor counting has a part in them any more.
 * Faults that a request brought along in its header are the client's own, and not among them.
 */
export function struckHarms({ exchanges, rules, endUsers }: RunTrace): Harm[] {
  const served = exchanges.filter(({ operation }) => operation !== null)
  const places = placesOf(served, new Set(endUsers))
  return places.flatMap(({ position }, i) =>
    (served[i]?.faults ?? []).flatMap(({ id }): Harm[] => {
      const rule = rules.find((one) => one.id === id)
      if (!rule) return []
      const { kind, phase, with: parameters } = rule
      const title = phase === undefined ? kind : `${kind} (${phase.replaceAll('_', ' ')})`
      const doing = { kind, phase, ...(parameters !== undefined && { with: parameters }) } as Harm['hazard']['rule']
      return [{ position, hazard: { id: `${kind}-${phase}`, title, rule: doing } }]
    }),
  )
}
