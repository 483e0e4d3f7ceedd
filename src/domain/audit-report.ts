import type { AuditFinding } from './audit-checks.ts'

/** The invariants that an audit checks; each text names the things compared and the rule. */
export const AUDIT_CHECKS = {
  shares: 'holdings: the shares of their portfolios add up to what the wallet holds on chain',
  principal: 'portfolios: their transactions lead to what they hold, without a gap',
  balances: 'portfolios: what the API shows is their worth on chain',
  wallets: 'token balances: what the wallet was made with, less deposits, plus withdrawals',
  hashes: 'transactions: successful on chain, each transfer by a hash of its own',
  idempotency: 'Idempotency-Keys: one transaction each',
  transfers: 'transfers under way, each being carried out',
} as const

/** Id of an audit's check. */
export type AuditCheckId = keyof typeof AUDIT_CHECKS

/** Result for one invariant; `ok` if it holds. */
export interface AuditCheck {
  id: AuditCheckId
  ok: boolean
  /** The number of things compared, the first offenders, and the first gifts of others, which are not offences. */
  detail: string
}

/** Result of an audit; `ok` if API, ledger and chain agree. */
export interface AuditReport {
  ok: boolean
  checks: AuditCheck[]
}

/** Number of offenders that a detail names. */
const NAMED = 3

/** Adds up the findings of the checks, end user by end user. */
export class AuditSummary {
  readonly #counts = new Map<AuditCheckId, { compared: number; wrong: number; named: string[]; gifts: string[] }>()
  readonly #remarks: string[] = []

  add(id: AuditCheckId, { compared, offences, gifts = [] }: AuditFinding): void {
    const count = this.#counts.get(id) ?? { compared: 0, wrong: 0, named: [], gifts: [] }
    count.compared += compared
    count.wrong += offences.length
    count.named.push(...offences.slice(0, NAMED - count.named.length))
    count.gifts.push(...gifts)
    this.#counts.set(id, count)
  }

  /** Names an end user whom some checks left out. */
  leaveOut(remark: string): void {
    this.#remarks.push(remark)
  }

  report(): AuditReport {
    const ids = Object.keys(AUDIT_CHECKS) as AuditCheckId[]
    const checks = ids.map((id): AuditCheck => {
      const { compared = 0, wrong = 0, named = [], gifts = [] } = this.#counts.get(id) ?? {}
      const left = id === 'transfers' ? listed('not compared with the chain', this.#remarks.length, this.#remarks) : ''
      const found = listed('wrong', wrong, named)
      const given = listed(gifts.length === 1 ? 'gift' : 'gifts', gifts.length, gifts)
      return {
        id,
        ok: wrong === 0,
        detail: [`${compared} ${AUDIT_CHECKS[id]}`, found, given, left].filter(Boolean).join('; '),
      }
    })
    return { ok: checks.every(({ ok }) => ok), checks }
  }
}

/** `5 wrong: a; b; c; and 2 more`, or nothing. */
function listed(what: string, count: number, named: readonly string[]): string {
  if (count === 0) return ''
  const first = named.slice(0, NAMED)
  const more = count > first.length ? [`and ${count - first.length} more`] : []
  return `${count} ${what}: ${[...first, ...more].join('; ')}`
}
