import { type Books, BooksError, type BooksSaid } from '../books/books.ts'
import { judgeBooks, unusableBooks } from '../books/judge-books.ts'
import { type Beside, judgementInSteps } from '../oracle/judge-operations.ts'
import type { OperationOutcome } from '../oracle/outcome.ts'
import { atOnce } from '../support/breathe.ts'
import { shorten } from '../support/foreign-text.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import { coverageOf } from './coverage.ts'
import { fieldOf } from './evidence/requests.ts'
import { findCauses } from './find-causes.ts'
import type { Evidence, Finding, Impact, Judgement, Outcome } from './finding.ts'
import type { FindingId } from './finding-ids.ts'
import type { ExchangeLine, Report, ReportedFinding, StatedAmount } from './report.ts'
import { reportHeadline } from './report-headline.ts'
import { type ExpectedTraffic, verdictOf } from './verdict-of.ts'

/** Contents of a report that the evidence does not hold. */
export interface ReportContext {
  /** Every finding, in the order in which a report shows those of the same impact. */
  findings: readonly Finding[]
  /** Version of the sandbox. */
  version: string
  seed: number
  /** Every kind of fault, in the order of the report. */
  faultKinds: readonly string[]
  /** The scenario started last: its required findings, and the traffic that must have occurred. */
  scenario?: { name: string; findings: readonly FindingId[]; traffic: ExpectedTraffic } | undefined
  /** Further required findings. */
  required?: readonly FindingId[] | undefined
  /** Optional context for judging the operations. */
  beside?: Beside | undefined
  /** Reasons why the verdict must not be passed, whatever the evidence shows: a sentence each. */
  reasons?: readonly string[] | undefined
  /** What the application believes, or why that could not be read; undefined if it was not asked. */
  books?: Books | BooksError | undefined
}

const IMPACTS: readonly Impact[] = ['critical', 'serious', 'minor']
/** Maximum number of requests that one finding names. */
const NAMED = 20
/** Placeholder for the client's own command. */
const OWN_COMMAND = '<your test command>'

/** Builds the whole report on a client. Pure; a judge that throws spoils only its own finding. */
export function buildReport(evidence: Evidence, context: ReportContext): Report {
  return atOnce(reportInSteps(evidence, context))
}

/** The same in steps, one for each judge, so that other tasks can run in between: a judge may take long over ten thousand exchanges. */
export function* reportInSteps(evidence: Evidence, context: ReportContext): Generator<undefined, Report> {
  const { scenario, seed, version } = context
  const { causes, explained } = findCauses(evidence)
  yield
  const rest = { ...evidence, exchanges: evidence.exchanges.filter(({ request_id }) => !explained.has(request_id)) }
  const required = new Set([...(scenario?.findings ?? []), ...(context.required ?? [])])
  const told = yield* judgementInSteps(evidence, context.beside)
  yield
  const { outcomes: operations, said: books } = withBooks(told, evidence, context)
  const findings: ReportedFinding[] = []
  for (const finding of context.findings) {
    yield
    findings.push(reported(finding, { evidence: rest, context, required: required.has(finding.id), books }))
  }
  findings.sort((a, b) => IMPACTS.indexOf(a.impact) - IMPACTS.indexOf(b.impact))
  yield
  const coverage = coverageOf([...evidence.kept, ...evidence.exchanges], context.faultKinds)
  const traffic = scenario?.traffic ?? {}
  complete(findings, operations)
  const { verdict, summary, unmet } = verdictOf({
    findings,
    configuration: causes,
    operations,
    coverage,
    traffic,
    reasons: context.reasons ?? [],
  })
  const counted = (outcomes: readonly Outcome[]) => findings.filter(({ outcome }) => outcomes.includes(outcome)).length
  return {
    verdict,
    summary,
    headline: reportHeadline(operations, findings),
    proved: counted(['passed']),
    contradicted: counted(['failed']),
    unproved: counted(['needs_review', 'not_exercised', 'errored']),
    ...(scenario && { scenario: scenario.name }),
    seed,
    created_at: new Date(evidence.now).toISOString(),
    version,
    unmet,
    configuration: causes,
    findings,
    coverage,
    operations,
    ...(books && { books }),
    exchanges: shownExchanges(evidence, [...causes, ...findings, ...operations.filter(isToBeShown)]),
  }
}

/** Outcomes judged with the books, if there are any, and what those came to. */
function withBooks(
  outcomes: OperationOutcome[],
  evidence: Evidence,
  { books, beside }: ReportContext,
): { outcomes: OperationOutcome[]; said?: BooksSaid } {
  if (books === undefined) return { outcomes }
  if (books instanceof BooksError) return { outcomes, said: unusableBooks(books.message) }
  return judgeBooks(outcomes, books, evidence, beside?.sibling)
}

interface Judging {
  evidence: Evidence
  context: ReportContext
  required: boolean
  books: BooksSaid | undefined
}

/** Findings on what a client knows: right books answer them, whatever its traffic shows. */
const ANSWERED_BY_BOOKS: readonly FindingId[] = ['outcome-after-drop']

/** Judges by the evidence, and by the books where those answer the finding. */
function judgeWithBooks(finding: Finding, { evidence, books }: Judging): JudgedFinding {
  const judged = judge(finding, evidence)
  const { outcome, explanation, request_ids } = judged
  const isOpen = outcome === 'failed' || outcome === 'needs_review'
  if (!isOpen || books?.verdict !== 'right' || !ANSWERED_BY_BOOKS.includes(finding.id)) return judged
  return { outcome: 'passed', explanation: `${explanation} But the books of the application are right.`, request_ids }
}

function reported(finding: Finding, judging: Judging): ReportedFinding {
  const { evidence, context, required } = judging
  const { id, title, failureTitle, impact, rule, consequence, fix } = finding
  const { outcome, explanation, expected, came, request_ids } = judgeWithBooks(finding, judging)
  const wrong = outcome === 'failed'
  const amounts = statedAmounts([explanation, expected, came], evidence)
  return {
    id,
    title: wrong ? failureTitle : title,
    outcome,
    impact,
    rule,
    explanation: outcome === 'not_exercised' ? explanation || `It takes ${finding.situation}.` : explanation,
    consequence,
    ...(expected !== undefined && { expected }),
    ...(came !== undefined && { came }),
    ...((wrong || outcome === 'needs_review') && { fix }),
    ...(outcome !== 'passed' && { exercise_with: commandOf(finding, wrong ? context : undefined) }),
    required,
    request_ids: request_ids.slice(0, NAMED),
    ...(amounts.length > 0 && { amounts }),
  }
}

const MINOR_UNITS = /(\d+) minor units/g

/** The amounts in minor units that texts state, with the tokens of the transfers that have them. */
function statedAmounts(texts: readonly (string | undefined)[], { kept, exchanges, ledger }: Evidence): StatedAmount[] {
  const amounts = new Set(
    texts.flatMap((text) => [...(text ?? '').matchAll(MINOR_UNITS)].map(([, amount = '']) => amount)),
  )
  if (amounts.size === 0) return []
  const portfolios = new Map(ledger.portfolios.map((one) => [one.portfolio_id, one]))
  const asked = [...kept, ...exchanges].map((exchange) => ({
    amount: exchange.transfer?.amount_minor ?? fieldOf(exchange, 'amount_minor'),
    portfolio: portfolios.get(String(exchange.transfer?.portfolio_id ?? fieldOf(exchange, 'portfolio_id'))),
  }))
  return [...amounts].map((amount_minor) => {
    const portfolio = asked.find((one) => one.amount === amount_minor && one.portfolio)?.portfolio
    return {
      amount_minor,
      token_symbol: portfolio?.token_symbol ?? null,
      token_decimals: portfolio?.token_decimals ?? null,
    }
  })
}

/** Adds to findings what only the others and the operations show. */
function complete(findings: readonly ReportedFinding[], operations: readonly OperationOutcome[]): void {
  for (const finding of findings) {
    const { outcome, impact, request_ids } = finding
    const named = (one: { request_ids: string[] }) => one.request_ids.filter((id) => request_ids.includes(id)).length
    if (impact !== 'critical') continue
    if (outcome === 'failed') {
      // Two of its requests, since one alone may have another flaw as well.
      const moved = operations.find(
        (one) => one.money_moved_wrongly && named(one) >= Math.min(2, one.request_ids.length),
      )
      if (moved?.money_moved_wrongly) finding.money_moved_wrongly = moved.money_moved_wrongly
    }
    if (outcome === 'needs_review' && request_ids.length > 1) {
      const broken = findings.find(
        (one) => one.outcome === 'failed' && one.impact === 'critical' && named(one) === request_ids.length,
      )
      if (broken) finding.explained_by = broken.id
    }
  }
}

/** @returns true if an operation's requests belong into the sequence: those of operations that went well would fill most of it */
function isToBeShown({ level }: OperationOutcome): boolean {
  return level !== 'ok' && level !== 'none' && level !== 'note'
}

/** The command that brings the situation about; after a failure, with the scenario and the seed of that run. */
function commandOf({ exerciseWith }: Finding, seenWith?: ReportContext): string {
  const scenario = seenWith?.scenario
  const how = scenario ? `--scenario ${scenario.name} --seed ${seenWith?.seed}` : exerciseWith
  return ['yield-sandbox exec', how, `-- ${OWN_COMMAND}`].filter(Boolean).join(' ')
}

function shownExchanges({ kept, exchanges }: Evidence, naming: readonly { request_ids: string[] }[]): ExchangeLine[] {
  const known = [...kept, ...exchanges]
  // Always shown: a reader must find transfers of more than was asked for without knowing where to look.
  const whole = known.flatMap(({ transfer, request_id }) => (transfer?.shown_by ? [request_id] : []))
  const named = new Set([...naming.flatMap(({ request_ids }) => request_ids), ...whole.slice(-NAMED)])
  const shown = known.filter(({ request_id }) => named.has(request_id))
  const start = Date.parse(shown[0]?.began.wall ?? '')
  return shown.map((exchange) => exchangeLine(exchange, start))
}

/** A judgement, or the substitute for that of a judge that failed. */
export type JudgedFinding = Omit<Judgement, 'outcome'> & { outcome: Outcome }

/** Judges the evidence by one finding. Never throws: if the judge does, the finding is `errored`. */
export function judge(finding: Finding, evidence: Evidence): JudgedFinding {
  try {
    return finding.judge(evidence)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const explanation = `Its judge failed, which is a mistake in the sandbox, not in the client: ${reason}.`
    return { outcome: 'errored', explanation, request_ids: [] }
  }
}

/** Maximum number of characters of a text that the client chose. */
const LONGEST = 200
/** Maximum number of characters of a body. */
const LONGEST_BODY = 2048

const DROPPED = {
  reset: 'connection reset',
  closed: 'connection closed',
  truncated: 'answer cut short',
} as const

/** An exchange as a line of a sequence diagram; its times count from `start`, in milliseconds since the Unix epoch. */
export function exchangeLine(exchange: RecordedExchange, start: number): ExchangeLine {
  const { request, idempotency, faults, transfer } = exchange
  return {
    request_id: exchange.request_id,
    operation: exchange.operation,
    tenant: exchange.tenant,
    external_id: exchange.external_id === null ? null : shorten(exchange.external_id, LONGEST),
    request: shorten(`${request.method} ${request.path}`, LONGEST),
    request_body: request.body === null ? null : shorten(request.body, LONGEST_BODY),
    answer: answerInWords(exchange),
    arrived: exchange.end === 'answered',
    idempotency_key: idempotency === null ? null : shorten(idempotency.key, LONGEST),
    fault: faults.map(({ kind, phase, explanation }) => `${kind} at ${phase}: ${explanation}`).join(' ') || null,
    connection: exchange.connection,
    at_ms: Math.max(0, Date.parse(exchange.began.wall) - start),
    took_ms: exchange.took_ms,
    tx_hash: transfer?.tx_hash ?? null,
    shown_by: transfer?.shown_by ?? null,
  }
}

function answerInWords({ end, dropped, response, took_ms }: RecordedExchange): string {
  if (end === 'dropped') return dropped === null ? 'connection dropped' : DROPPED[dropped]
  if (end === 'abandoned') return `client left after ${(took_ms / 1000).toFixed(1)} s`
  if (end === 'cut_off') return 'cut off by a reset, or the end of a process'
  if (end === 'open' || response === null) return 'no answer yet'
  return response.code === null ? String(response.status) : `${response.status} ${shorten(response.code, LONGEST)}`
}
