import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** Whether the client got an answer, with success. */
export function succeeded({ end, response }: RecordedExchange): boolean {
  return end === 'answered' && response !== null && response.status < 300
}

/** Whether the client got this refusal. */
export function refusedWith({ end, response }: RecordedExchange, code: string): boolean {
  return end === 'answered' && response?.code === code
}

/** Whether a fault of one of these kinds struck it. */
export function struckBy({ faults }: RecordedExchange, ...kinds: readonly string[]): boolean {
  return faults.some(({ kind }) => kinds.includes(kind))
}
