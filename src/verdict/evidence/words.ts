import { shorten } from '../../support/foreign-text.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { fieldOf } from './requests.ts'

/** `1 time`, `2 times` */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Milliseconds for people: `120 ms`, `45.0 s`. */
export function spell(ms: number): string {
  return Math.abs(ms) < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** A client's text, short enough for a sentence. */
export function quote(text: string): string {
  return `"${shorten(text, 60)}"`
}

const NOUNS: Partial<Record<string, string>> = {
  deposit: 'deposit',
  withdraw: 'withdrawal',
  create_portfolio: 'creation of a portfolio',
  create_end_user: 'creation of an end user',
  list_pools: 'list of pools',
  list_portfolios: 'list of portfolios',
  list_transactions: 'list of transactions',
  token: 'request for a token',
}

/** Names a write by end user and amount: `alice's deposit of 1000 minor units`. */
export function requestInWords(exchange: RecordedExchange): string {
  const { external_id, operation, transfer } = exchange
  const noun = NOUNS[operation ?? ''] ?? operation ?? 'request'
  const amount = transfer?.amount_minor ?? fieldOf(exchange, 'amount_minor')
  const much = typeof amount === 'string' ? ` of ${shorten(amount, 40)} minor units` : ''
  return external_id === null ? `a ${noun}${much}` : `${shorten(external_id, 40)}'s ${noun}${much}`
}

/** The end of a request as its client saw it: `its connection was reset after 120 ms`. */
export function endingOf({ end, dropped, response, took_ms }: RecordedExchange): string {
  const after = `after ${spell(took_ms)}`
  if (end === 'dropped')
    return dropped === 'truncated'
      ? `its answer was cut short ${after}`
      : `its connection was ${dropped ?? 'closed'} ${after}`
  if (end === 'abandoned') return `the client left ${after}`
  if (response === null) return 'it had no answer'
  if (response.status < 300) return `its answer could not be read`
  return `it was answered ${response.status}${response.code === null ? '' : ` ${response.code}`}`
}
