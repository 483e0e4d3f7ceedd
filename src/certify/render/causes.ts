import { STRIKES } from '../../explore/plan/plan.ts'
import { grouped } from '../../support/maps.ts'
import type { CertifiedIncident } from '../evidence.ts'

/** "deposit (close before broadcast, reverted), withdraw (reverted)" */
export function placesInWords(incidents: readonly Pick<CertifiedIncident, 'operation' | 'hazard'>[]): string {
  const operations = [...new Set(incidents.map(({ operation }) => operation))]
  const titleOf = (id: string) => STRIKES.find((hazard) => hazard.id === id)?.title ?? id
  const at = (operation: CertifiedIncident['operation']) =>
    incidents.filter((incident) => incident.operation === operation).map(({ hazard }) => titleOf(hazard))
  return operations.map((operation) => `${operation.replaceAll('_', ' ')} (${at(operation).join(', ')})`).join(', ')
}

/** Incidents of one cause: the first, and the others. */
export interface Card {
  first: CertifiedIncident
  others: CertifiedIncident[]
}

/** Groups incidents by cause: same outcome and same findings or, without findings, same sentences. */
export function cardsOf(incidents: readonly CertifiedIncident[]): Card[] {
  return [...grouped(incidents, causeOf).values()].flatMap(([first, ...others]) => (first ? [{ first, others }] : []))
}

function causeOf({ outcome, findings, sentences }: CertifiedIncident): string {
  return JSON.stringify([outcome, findings.length > 0 ? [...findings].sort() : sentences.map(shapeOf)])
}

/** Removes the end user, the amounts and the operation from a sentence: they make no difference to the cause. */
function shapeOf(sentence: string): string {
  return sentence
    .replace(/^.*?(?:: |'s )/s, '')
    .replace(/\b(?:deposit|withdraw|withdrawal|new portfolio)\b/g, 'transfer')
    .replace(/\d[\d.,]*/g, '0')
}
