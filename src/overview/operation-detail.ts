import type { Store } from '../domain/ports/store.ts'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import { explainExchange } from '../traffic/explain-exchange.ts'
import type { RecordedExchange, RecordedStep } from '../traffic/recorded-exchange.ts'
import type { ReportedFinding } from '../verdict/report.ts'
import type { AttemptStep, JudgedDetail, OperationAttempt, OperationMoney } from './contract.ts'
import { blockOf, endInWords, isSameKey, movedBy } from './marks.ts'
import type { OperationFacts, ShownAttempt } from './operation-facts.ts'
import type { ReadOperation } from './operations-view.ts'

/** Dependencies of {@link detailOf}. */
export interface DetailDeps {
  exchanges: ExchangeLog
  store: Store
}

/** An operation with its attempts, its money and its findings. */
export async function detailOf({ row, facts, findings }: ReadOperation, deps: DetailDeps): Promise<JudgedDetail> {
  const exchanges = facts.attempts.map((attempt) => countedOf(attempt, deps.exchanges))
  return {
    ...row,
    attempts: facts.attempts.map((attempt, i) => attemptShown(attempt, i, { facts, exchanges })),
    money: await moneyOf(facts, deps),
    findings: inOrderOfImpact(findings),
  }
}

/** The whole record of an attempt; with the ordinal 1 if it was forgotten meanwhile. */
function countedOf({ exchange }: ShownAttempt, log: ExchangeLog): RecordedExchange {
  return log.get(exchange.request_id) ?? { ...exchange, ordinal: 1 }
}

const IMPACTS: readonly ReportedFinding['impact'][] = ['critical', 'serious', 'minor']

function inOrderOfImpact(findings: readonly ReportedFinding[]): ReportedFinding[] {
  const broken = findings.filter(({ outcome }) => outcome === 'failed')
  return broken.sort((a, b) => IMPACTS.indexOf(a.impact) - IMPACTS.indexOf(b.impact))
}

interface Attempts {
  facts: OperationFacts
  exchanges: readonly RecordedExchange[]
}

function attemptShown(attempt: ShownAttempt, at: number, { facts, exchanges }: Attempts): OperationAttempt {
  const exchange = exchanges[at] ?? { ...attempt.exchange, ordinal: 1 }
  const before = exchanges[at - 1]
  const original = exchanges.find(
    (one) => one !== exchange && one.idempotency?.use === 'first' && isSameKey(one, exchange),
  )
  const settled = facts.booked.some(({ id }) => id === exchange.transfer?.transaction_id)
  const ended = before?.ended && Date.parse(before.ended.wall)
  return {
    exchange: { ...exchange, explanation: explainExchange(exchange, { original, settled }) },
    steps: stepsOf(attempt, facts),
    waited_ms: typeof ended === 'number' ? Math.max(0, Date.parse(exchange.began.wall) - ended) : null,
    same_key: before ? isSameKey(before, exchange) : null,
  }
}

/** What an attempt went through, in the order in which it happened. */
function stepsOf(attempt: ShownAttempt, facts: OperationFacts): AttemptStep[] {
  const { exchange } = attempt
  const none = { tone: 'plain', detail: null, tx_hash: null, block_number: null } as const
  const after = exchange.transfer?.steps.filter(({ step, after_end }) => after_end && step !== 'confirmed').length ?? 0
  const caused = causedSteps(attempt, facts)
  const { kind, tone, title, detail } = endInWords(exchange)
  const end: AttemptStep = { ...none, step: kind, at: exchange.ended?.wall ?? null, tone, title, detail }
  const at = Math.max(0, caused.length - after)
  return [
    { ...none, step: 'request', at: exchange.began.wall, title: 'Request' },
    ...caused.slice(0, at),
    end,
    ...caused.slice(at),
  ]
}

const TITLES: Partial<Record<RecordedStep['step'], string>> = {
  claimed: 'Key claimed',
  signed: 'Signed',
  broadcast: 'Sent to the chain',
  settled: 'Booked',
}

function causedSteps(attempt: ShownAttempt, facts: OperationFacts): AttemptStep[] {
  const { exchange } = attempt
  const noted = exchange.transfer?.steps ?? []
  if (noted.length === 0) return inferredSteps(attempt, facts)
  const tx_hash = exchange.transfer?.tx_hash ?? null
  return noted.flatMap(({ step, at, block }): AttemptStep[] => {
    if (step === 'mined') return [minedStep(attempt, facts, { at: at.wall, block: block ?? null })]
    const title = TITLES[step]
    if (title === undefined || step === 'confirmed') return []
    const own = { step, at: at.wall, tone: 'plain' as const, title, detail: null }
    return [{ ...own, tx_hash: step === 'claimed' ? null : tx_hash, block_number: null }]
  })
}

/** Steps of an attempt of which none were noted. */
function inferredSteps(attempt: ShownAttempt, facts: OperationFacts): AttemptStep[] {
  const { exchange, booked, reverted } = attempt
  const isOwn = exchange.idempotency?.use !== 'joined' && exchange.idempotency?.use !== 'replayed'
  const tx_hash = exchange.transfer?.tx_hash ?? null
  if (!isOwn || tx_hash === null) return []
  const signed: AttemptStep = {
    ...{ step: 'signed', at: null, tone: 'plain', title: 'Signed', detail: null, tx_hash, block_number: null },
  }
  return booked || reverted ? [signed, minedStep(attempt, facts, { at: null, block: blockOf(exchange) })] : [signed]
}

function minedStep(
  { booked, reverted, exchange }: ShownAttempt,
  facts: OperationFacts,
  { at, block }: { at: string | null; block: number | null },
): AttemptStep {
  const again = booked !== undefined && facts.booked[0] !== booked
  const moved = booked ? `${movedBy(facts, booked.amount_changed)}${again ? ' a second time' : ''}` : null
  return {
    step: 'mined',
    at,
    tone: reverted ? 'warn' : again ? 'bad' : 'plain',
    title: `${reverted ? 'Reverted' : 'Block'}${block === null ? '' : reverted ? ` in block ${block}` : ` ${block}`}`,
    detail: reverted ? 'no money moved' : moved,
    tx_hash: exchange.transfer?.tx_hash ?? null,
    block_number: block,
  }
}

/** The principal of the portfolio before and after the operation, by the ledger; null for what moves no money. */
async function moneyOf(facts: OperationFacts, deps: DetailDeps): Promise<OperationMoney | null> {
  const { operation, portfolio, booked } = facts
  if ((operation !== 'deposit' && operation !== 'withdraw') || !portfolio) return null
  const { portfolio_id, token_symbol, token_decimals } = portfolio
  const token = { portfolio_id, token_symbol, token_decimals }
  const own = booked.filter((one) => one.portfolio_id === portfolio_id)
  const [first] = own
  const last = own.at(-1)
  if (first && last) {
    const { deposited_amount_before: before, deposited_amount_after: expected } = first
    return { ...token, before, expected, after: last.deposited_amount_after }
  }
  const held = await heldAt(facts, deps)
  return { ...token, before: held, expected: held, after: held }
}

/** The principal when an operation that moved nothing ended. */
async function heldAt({ portfolio, attempts }: OperationFacts, { store, exchanges }: DetailDeps): Promise<string> {
  const last = attempts.at(-1)?.exchange
  if (!portfolio || !last) return '0'
  const until = (last.ended ?? last.began).clock
  for (let after: [string, string] | undefined; ; ) {
    const page = await store.page('transactions', { scope: portfolio.end_user_id, limit: 100, ...(after && { after }) })
    for (const one of page.items) {
      if (one.portfolio_id !== portfolio.portfolio_id || one.type === 'yield_harvest' || one.created_at > until)
        continue
      if (one.created_at === until && isLater(one.id, last.number, exchanges)) continue
      return one.deposited_amount_after
    }
    const end = page.items.at(-1)
    if (!page.has_next || !end) return '0'
    after = [end.created_at, end.id]
  }
}

/** @returns true if a transaction of the same moment of business time belongs to a later request: the clock may be frozen */
function isLater(id: string, number: number, log: ExchangeLog): boolean {
  const { next } = log.range
  const numbers = Array.from({ length: next - number - 1 }, (_, i) => number + 1 + i)
  for (const { transaction_id } of log.outlines(numbers)) if (transaction_id === id) return true
  return false
}
