import type { FaultRule } from '../../../src/index.ts'
import type { FindingId } from '../../../src/verdict/finding-ids.ts'

/** Under what a mistake shows. */
export interface Exercise {
  /** A shipped scenario, or a file beside the mistakes. */
  scenario?: string
  faults?: FaultRule[]
  confirmationDelay?: string
  /** How often the client sends a request that gets no final answer. */
  attempts?: number
}

/** One way to be wrong. */
export interface Mistake {
  id: string
  finding: FindingId
  what: string
  exercise: Exercise
}

/** Name to text of a client's files. */
export type ClientSource = Record<string, string>

// The examples are plain JavaScript, so that they run as they are.
const folder = new URL('../../../examples/wrong-clients/', import.meta.url)
const list = (await import(new URL('mistakes.mjs', folder).href)) as { MISTAKES: Mistake[] }
const source = (await import(new URL('wrong-source.mjs', folder).href)) as {
  referenceSource(): ClientSource
  wrongSource(id: string): ClientSource
}

/** Every wrong client there is. */
export const mistakes = list.MISTAKES
/** The reference client's files. */
export const { referenceSource, wrongSource } = source
