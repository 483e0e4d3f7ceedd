import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import type { LedgerTransfer } from '../../src/oracle/facts.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { type Evidence, type Finding, failed, notExercised, passed } from '../../src/verdict/finding.ts'

export const NOTHING_FORGOTTEN = { room: 0, deleted: 0, reset: 0 }

/** Some of the evidence; `transfers` are those of the ledger. */
export type EvidenceParts = Partial<Evidence> & { transfers?: readonly LedgerTransfer[] }

/** Evidence of a client that has ended: exchanges that arrived in this order. */
export function evidenceOf(given: readonly RecordedExchange[], rest: EvidenceParts = {}): Evidence {
  const exchanges = given.map((exchange, index) => ({ ...exchange, number: index + 1 }))
  const { transfers, ...others } = rest
  return {
    exchanges,
    kept: [],
    forgotten: NOTHING_FORGOTTEN,
    ledger: { transfers: transfers ?? [], under_way: [], portfolios: [] },
    rpc_at: null,
    taken_away: { clearings: 0, resets: 0, faults: 0 },
    ended: true,
    end: 'well',
    now: 1_000_000,
    settings: DEFAULT_SETTINGS,
    ...others,
  }
}

/** A finding that is not exercised, but for what is given. */
export function finding(rest: Partial<Finding> = {}): Finding {
  return {
    id: 'idempotency-key-on-retry',
    title: 'A retry keeps its Idempotency-Key',
    failureTitle: 'A dropped transfer was retried with a new Idempotency-Key: this pays twice',
    rule: 'Idempotency-Key: the same key is reused when retrying the same logical operation.',
    impact: 'critical',
    consequence: 'Your user pays twice.',
    situation: 'a transfer whose connection drops',
    exerciseWith: '--scenario dropped-deposit',
    fix: 'Make the key once per operation, outside the retry loop.',
    wrongClients: [],
    judge: () => notExercised('No transfer was dropped.'),
    ...rest,
  }
}

/** One that is passed. */
export const rightFinding = (rest: Partial<Finding> = {}) =>
  finding({ judge: ({ exchanges }) => passed('It was kept.', exchanges.slice(0, 1)), ...rest })

/** One that is failed. */
export const wrongFinding = (rest: Partial<Finding> = {}) =>
  finding({
    judge: ({ exchanges }) => failed('alice paid twice.', { expected: 'key 1', came: 'key 2' }, exchanges.slice(0, 2)),
    ...rest,
  })
