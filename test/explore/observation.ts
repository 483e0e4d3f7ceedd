import type { Observation } from '../../src/explore/run/exploration-sandbox.ts'
import { booked, PORTFOLIO, transfer } from '../oracle/story.ts'
import { evidenceOf } from '../verdict/evidence.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'
import { money } from './money.ts'

/** A run in few words. */
export interface Seen extends Partial<Observation> {
  code?: number
  /** Transfers of alice: `deposit 5`, in whole USDC. */
  transfers: readonly string[]
  /** How each was answered, where that was not with success. */
  answers?: Record<number, ExchangeParts>
  more?: readonly ExchangeParts[]
}

/** A run in which alice was paid in and out so much, each under a key of its own. */
export function seen({ code = 0, transfers, answers = {}, more = [], ...rest }: Seen): Observation {
  const own = money({ alice: transfers })
  const moved = own.users[0]?.pools[0]?.transfers ?? []
  const sent = moved.map(({ type, amount_minor }, i) => {
    return transfer({ key: `k${i}`, at: i * 50, operation: type, amount: amount_minor, ...answers[i] })
  })
  const ledger = moved.map(({ type, amount_minor, transaction_id, tx_hash }, i) => {
    return booked(`k${i}`, { type, amount_minor, transaction_id, tx_hash })
  })
  const exchanges = [exchange({ operation: 'list_portfolios' }), ...sent, ...more.map(exchange)]
  return {
    before: undefined,
    end: { code, signal: null, timedOut: false, leftBehind: [] },
    took: 100,
    overhead: 10,
    evidence: evidenceOf(exchanges, {
      end: code === 0 ? 'well' : 'failed',
      ledger: { transfers: ledger, under_way: [], portfolios: [PORTFOLIO] },
    }),
    money: own,
    audit: { ok: true, checks: [] },
    report: { findings: [] } as unknown as Observation['report'],
    struck: [true],
    takenAway: false,
    unsettled: 0,
    restarted: undefined,
    crash: undefined,
    again: [],
    twin: undefined,
    ...rest,
  }
}
