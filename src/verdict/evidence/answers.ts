import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** Whether the client got this refusal. */
export function refusedWith({ end, response }: RecordedExchange, code: string): boolean {
  return end === 'answered' && response?.code === code
}
