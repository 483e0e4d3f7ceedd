import type { OperationOutcome } from '../oracle/outcome.ts'
import type { ReportedFinding } from '../verdict/report.ts'
import type { OperationRow } from './contract.ts'
import { marksOf } from './marks.ts'
import type { OperationFacts } from './operation-facts.ts'
import { movesMoney, type OutcomeInWords, outcomeInWords } from './outcome-words.ts'

/** The judgement of one operation. */
export interface JudgedRow {
  outcomes: readonly OperationOutcome[]
  /** Broken rules, and those that need review, that name one of its requests. */
  findings: readonly ReportedFinding[]
}

/** The row of an operation. */
export function rowOf(facts: OperationFacts, { outcomes, findings }: JudgedRow): OperationRow {
  const { attempts, operation, portfolio } = facts
  const exchanges = attempts.map(({ exchange }) => exchange)
  const [first] = exchanges
  const answered = exchanges.filter(({ end, response }) => end === 'answered' && response).at(-1)?.response
  return {
    number: first?.number ?? 0,
    operation,
    moves_money: movesMoney(operation),
    tenant: facts.tenant,
    external_id: facts.external_id,
    portfolio_id: facts.portfolio_id,
    portfolio_name: portfolio?.name ?? null,
    pool_id: portfolio?.pool_id ?? null,
    amount_minor: facts.amount_minor,
    token_symbol: portfolio?.token_symbol ?? null,
    token_decimals: portfolio?.token_decimals ?? null,
    keys: facts.keys,
    marks: marksOf(facts),
    ...withBrokenRule(outcomeInWords(facts, outcomes), findings),
    outcomes: [...new Set(outcomes.map(({ outcome }) => outcome))],
    finding_ids: findings.map(({ id }) => id),
    faults: [...new Set(exchanges.flatMap(({ faults }) => faults.map(({ kind }) => kind)))],
    status: answered?.status ?? null,
    code: answered?.code ?? null,
    began: first?.began ?? { wall: '', clock: '' },
    request_ids: exchanges.map(({ request_id }) => request_id),
  }
}

/** An outcome that shows that one of its requests broke a rule, unless the money is wrong: that is graver. */
function withBrokenRule(words: OutcomeInWords, findings: readonly ReportedFinding[]): OutcomeInWords {
  const broken = findings.filter(({ outcome }) => outcome === 'failed')
  const [first] = broken
  if (!first || words.tone === 'bad') return words
  const tone = broken.some(({ impact }) => impact !== 'minor') ? 'bad' : 'warn'
  const outcome = words.tone === 'plain' || words.tone === 'ok' ? `${words.outcome}, rule broken` : words.outcome
  return { outcome, tone, sentence: `${words.sentence} ${first.title}.` }
}
