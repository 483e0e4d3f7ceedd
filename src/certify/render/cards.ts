import { grouped } from '../../support/grouped.ts'
import type { Incident } from '../evidence.ts'

/** What has one cause: where it was seen first, and where else. */
export interface Card {
  first: Incident
  others: Incident[]
}

/** Incidents by their cause: those of one outcome that the same findings explain or, where none does, that came to the same. */
export function cardsOf(incidents: readonly Incident[]): Card[] {
  return [...grouped(incidents, causeOf).values()].flatMap(([first, ...others]) => (first ? [{ first, others }] : []))
}

function causeOf({ outcome, findings, sentences }: Incident): string {
  return JSON.stringify([outcome, findings.length > 0 ? [...findings].sort() : sentences.map(shapeOf)])
}

/** Whose money it is, how much of it, and of which operation makes no difference. */
function shapeOf(sentence: string): string {
  return sentence
    .replace(/^.*?(?:: |'s )/s, '')
    .replace(/\b(?:deposit|withdraw|withdrawal|new portfolio)\b/g, 'transfer')
    .replace(/\d[\d.,]*/g, '0')
}
