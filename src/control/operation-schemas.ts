import { Type } from '@sinclair/typebox'
import { OPERATIONS } from '../domain/operations.ts'
import { type OperationOutcome, OUTCOMES } from '../oracle/outcome.ts'
import {
  type AttemptStep,
  type Headline,
  type InspectorPoll,
  MARK_KINDS,
  type Mark,
  type OperationAgain,
  type OperationDetail,
  type OperationMoney,
  type OperationPage,
  type OperationRow,
  type Tone,
} from '../overview/contract.ts'
import { BothClocks, ExplainedExchangeSchema } from './exchange-schemas.ts'
import { ReportedFindingSchema } from './report-schema.ts'
import { anything, Count, control, Moment, oneOf, orNull, Text } from './schema-parts.ts'
import { RuleSchema } from './schemas.ts'

const textOrNull = (description: string) => orNull(Type.String(), description)
const Minor = (description: string) => Type.String({ pattern: '^\\d+$', description })
const TONES: readonly Tone[] = ['bad', 'warn', 'ok', 'plain']
const ToneSchema = oneOf(TONES, 'bad: money is wrong, or a rule is broken. plain: nothing to notice.')
const OUTCOME_IDS = Object.keys(OUTCOMES) as OperationOutcome['outcome'][]

const MarkSchema = control<Mark>(
  'OperationMark',
  Type.Object({
    kind: oneOf(MARK_KINDS, 'A request, what it caused on the chain, or what its client got.'),
    tone: ToneSchema,
    label: Text('In words.'),
  }),
)

const ROW = {
  number: Count('Number of its first request since the last reset: its name.'),
  operation: orNull(oneOf(OPERATIONS, 'The operation.'), 'Null when the path is none of the service.'),
  moves_money: Type.Boolean({ description: 'True for a deposit, a withdrawal and a new portfolio.' }),
  tenant: textOrNull('Slug, verified or claimed.'),
  external_id: textOrNull('The end user.'),
  portfolio_id: textOrNull('The portfolio.'),
  portfolio_name: textOrNull('Its name.'),
  pool_id: textOrNull('Its pool.'),
  amount_minor: textOrNull('The amount asked for in minor units, as sent.'),
  token_symbol: textOrNull('Token of the portfolio.'),
  token_decimals: orNull(Count('Its decimals.'), 'Null where it is unknown.'),
  keys: Type.Array(Type.String(), { description: 'Its Idempotency-Keys as sent, the first one first.' }),
  marks: Type.Array(MarkSchema, { description: 'What happened, in order.' }),
  outcome: Text('A few words for people.'),
  tone: ToneSchema,
  outcomes: Type.Array(oneOf(OUTCOME_IDS, 'See the oracle.'), {
    description: 'What the oracle says; empty for what moves no money, and until it has judged.',
  }),
  sentence: Text('What happened.'),
  finding_ids: Type.Array(Type.String(), {
    description: 'Rules that are broken or need review, and name one of its requests.',
  }),
  faults: Type.Array(Type.String(), { description: 'Kinds of the faults that struck it.' }),
  status: orNull(Type.Integer(), 'Of the last answer that it got.'),
  code: textOrNull('Error code of that answer.'),
  began: BothClocks,
  request_ids: Type.Array(Type.String(), { description: 'Its requests, oldest first.' }),
}

const RowSchema = control<OperationRow>('OperationRow', Type.Object(ROW))

const HeadlineSchema = control<Headline>(
  'Headline',
  Type.Object({
    tone: ToneSchema,
    sentence: Text('On the money of everybody.'),
    operation_number: orNull(Count('Its number.'), 'The operation that it speaks of.'),
    operation_title: textOrNull('That operation in words.'),
    more: Count('Further operations that are as grave.'),
    proved: Count('Rules kept.'),
    contradicted: Count('Rules broken.'),
    unproved: Count('Rules not tested, or open.'),
  }),
)

export const OperationPageSchema = control<OperationPage>(
  'OperationPage',
  Type.Object({
    operations: Type.Array(RowSchema, { description: 'Newest first.' }),
    next_before: orNull(Count('Value of before for the next page.'), 'Null on the last page.'),
    total: Count('Operations on record.'),
    forgotten: Count('Requests that were recorded and are forgotten.'),
    headline: HeadlineSchema,
    judged: Type.Boolean({ description: 'False while a judgement of the newest requests is to come.' }),
    event_id: Text('The events go on from here.'),
  }),
)

const STEPS: readonly AttemptStep['step'][] = [
  'request',
  'claimed',
  'signed',
  'broadcast',
  'mined',
  'settled',
  'answered',
  'refused',
  'replayed',
  'lost',
  'waiting',
]

const AttemptStepSchema = control<AttemptStep>(
  'AttemptStep',
  Type.Object({
    step: oneOf(STEPS, 'What happened.'),
    at: orNull(Moment('Real time.'), 'Null if it was not noted.'),
    tone: ToneSchema,
    title: Text('In words.'),
    detail: textOrNull('More of it.'),
    tx_hash: textOrNull('Of its transaction.'),
    block_number: orNull(Count('Its block.'), 'Null without one.'),
  }),
)

const MoneySchema = control<OperationMoney>(
  'OperationMoney',
  Type.Object({
    portfolio_id: Text('The portfolio.'),
    token_symbol: Text('Its token.'),
    token_decimals: Count('Its decimals.'),
    before: Minor('Principal before.'),
    expected: Minor('Principal if it is carried out once, or not at all where it was refused.'),
    after: Minor('Principal after.'),
  }),
)

const AgainSchema = control<OperationAgain>(
  'OperationAgain',
  Type.Object({
    obstacle: textOrNull('Why nobody can sign its last request again.'),
    path: Text('Path and query of that request.'),
    headers: Type.Unsafe<OperationAgain['headers']>(
      Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
        description: 'Its headers, without tokens, key and those of the connection.',
      }),
    ),
    curl: Text('The request as a command for a POSIX shell, which mints its tokens first.'),
    fault: Type.Unsafe<OperationAgain['fault']>(RuleSchema),
    scenario: Text('A scenario file with that fault.'),
  }),
)

export const OperationDetailSchema = control<OperationDetail>(
  'OperationDetail',
  Type.Object({
    ...ROW,
    attempts: Type.Array(
      Type.Object({
        exchange: ExplainedExchangeSchema,
        steps: Type.Array(AttemptStepSchema, { description: 'In the order in which they happened.' }),
        waited_ms: orNull(Type.Number(), 'Milliseconds of real time since the end of the attempt before.'),
        same_key: orNull(Type.Boolean(), 'Whether its key is that of the attempt before.'),
      }),
      { description: 'Its requests, oldest first.' },
    ),
    money: orNull(MoneySchema, 'Null for what moves no money.'),
    findings: Type.Array(ReportedFindingSchema, { description: 'Broken rules, the gravest first.' }),
    again: AgainSchema,
  }),
)

export const InspectorPollSchema = control<InspectorPoll>(
  'InspectorPoll',
  Type.Object({
    event_id: Text('Value of last_event_id for the next poll.'),
    events: Type.Unsafe<InspectorPoll['events']>(
      Type.Array(Type.Object({ event: Text('Name of the event.'), data: anything('As in the stream.') }), {
        description: 'Since last_event_id, oldest first.',
      }),
    ),
  }),
)
