import { type TSchema, Type } from '@sinclair/typebox'
import { CHECKS } from '../domain/check.ts'
import { OPERATIONS } from '../domain/operations.ts'
import { TRANSFER_STEPS } from '../domain/transfers.ts'
import type { ExplainedExchange } from '../traffic/explain-exchange.ts'
import type { Har, HarEntry } from '../traffic/har.ts'
import type { NextExchange } from '../traffic/next-exchange.ts'
import type { ExchangePage } from '../traffic/page-exchanges.ts'
import {
  type CausedTransfer,
  EXCHANGE_ENDS,
  type Moment as MomentOfBoth,
  type RecordedExchange,
  type RecordedRequest,
  type RecordedResponse,
  type RecordedStep,
  type Refusal,
  type ShownToken,
} from '../traffic/recorded-exchange.ts'
import { Count, control, Moment, oneOf, orNull, Text } from './schema-parts.ts'

const Bytes = Count('Its length, also of what was not kept.')
const Cut = Type.Boolean({ description: 'Whether only the beginning was kept.' })
const textOrNull = (description: string) => orNull(Type.String(), description)
const Json = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })
const Pairs = (description: string) =>
  Type.Unsafe<[string, string][]>({
    type: 'array',
    items: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 },
    description,
  })

export const BothClocks = control<MomentOfBoth>(
  'MomentOnBothClocks',
  Type.Object({ wall: Moment('Real time.'), clock: Moment('Business time.') }),
)

const ShownTokenSchema = control<ShownToken>(
  'ShownToken',
  Type.Object({
    fingerprint: Text('The same for the same token; says nothing about it.'),
    header: orNull(Json, 'Null when it is no JWT.'),
    claims: orNull(Json, 'Null when it is no JWT.'),
  }),
)

const RequestSchema = control<RecordedRequest>(
  'RecordedRequest',
  Type.Object({
    method: Text('As sent.'),
    path: Text('As sent, without the query.'),
    query: Pairs('Names and values, decoded.'),
    headers: Pairs('Names and values, as sent. Secrets are gone.'),
    body: textOrNull('Null when there was none, or none was read.'),
    body_bytes: Count('Bytes that have come, also of what was not kept.'),
    body_cut: Type.Boolean({ description: 'Whether only the beginning was kept, or came: none of it may have.' }),
    idp_token: orNull(ShownTokenSchema, 'That of Authorization.'),
    user_token: orNull(ShownTokenSchema, 'That of X-User-Token.'),
    client_id: textOrNull('At the token endpoint: who asks.'),
  }),
)

const ResponseSchema = control<RecordedResponse>(
  'RecordedResponse',
  Type.Object({
    status: Type.Integer(),
    headers: Pairs('Names and values.'),
    body: textOrNull('Null when there was none.'),
    body_bytes: Bytes,
    body_cut: Cut,
    code: textOrNull('The error code in the body.'),
    issued: orNull(
      Type.Object({
        token: ShownTokenSchema,
        expires_in: Type.Number({ description: 'Seconds, as the answer says.' }),
      }),
      'At the token endpoint: the token that was issued.',
    ),
  }),
)

const RefusalSchema = control<Refusal>(
  'Refusal',
  Type.Object({
    check: oneOf(CHECKS, 'What refused it.'),
    code: Text('Of the catalogue of errors, or of RFC 6749.'),
    aspect: textOrNull('The parameter, header, claim or field at fault.'),
    expected: textOrNull('What would have been right, where that is one thing.'),
    came: textOrNull('What came.'),
    detail: Text('As the answer says it.'),
  }),
)

const StepSchema = control<RecordedStep>(
  'TransferStep',
  Type.Object({
    step: oneOf(
      TRANSFER_STEPS,
      'claimed: its key is its own. signed: by the wallet. broadcast: to the node. mined: in a kept block. confirmed: the delay has passed. settled: booked.',
    ),
    at: BothClocks,
    after_end: Type.Boolean({ description: 'True if the exchange had ended before; times may be equal.' }),
    block: Type.Optional(Count('With mined: number of its block.')),
    nonce: Type.Optional(Count('With signed: nonce of its transaction.')),
  }),
)

const TransferSchema = control<CausedTransfer>(
  'CausedTransfer',
  Type.Object({
    type: oneOf(['deposit', 'withdraw'], 'Which way.'),
    transaction_id: textOrNull('Null before it is signed.'),
    tx_hash: textOrNull('Null before it is signed.'),
    portfolio_id: Text('Its portfolio.'),
    amount_minor: Text('Minor units, a digit string.'),
    shown_by: textOrNull('The request whose answer showed this amount as the total, so that everything was withdrawn.'),
    steps: Type.Array(StepSchema, {
      description: 'What became of it so far, in order; empty if another exchange carried it out.',
    }),
  }),
)

const FaultThatStruck = control<RecordedExchange['faults'][number]>(
  'FaultThatStruck',
  Type.Object({
    id: Text('Of the rule; `header` when the request brought it along.'),
    kind: Text('What went wrong.'),
    phase: Text('When.'),
    explanation: Text('What it does.'),
  }),
)

const Idempotency = Type.Object({
  key: Text('The Idempotency-Key.'),
  use: oneOf(
    ['first', 'joined', 'replayed', 'unused'],
    'first: it ran the operation. joined: another one was running it. replayed: it was given what was kept. unused: nobody looked at it.',
  ),
})

const EXCHANGE = {
  request_id: Text('As the answer has it.'),
  number: Count('Counts the exchanges of the namespace.'),
  operation: orNull(oneOf(OPERATIONS, 'The operation.'), 'Null when the path is none of the service.'),
  tenant: textOrNull('Slug, verified or claimed.'),
  external_id: textOrNull('The end user.'),
  ordinal: Count('The how-manyth of its operation for its end user.'),
  connection: Count('Ordinal of the connection it came on.'),
  began: BothClocks,
  ended: orNull(BothClocks, 'When it was over; null while it is open.'),
  end: oneOf(
    EXCHANGE_ENDS,
    'How it ended. dropped: by a fault. abandoned: by the client. cut_off: by a reset, or the end of a process.',
  ),
  unread: Type.Boolean({ description: 'Whether the client reset the connection without having read the answer.' }),
  dropped: orNull(oneOf(['reset', 'closed', 'truncated'], 'How.'), 'How a fault ended the connection.'),
  took_ms: Type.Number({ description: 'Milliseconds of real time.' }),
  request: RequestSchema,
  response: orNull(ResponseSchema, 'What it was answered, or would have been.'),
  refusal: orNull(RefusalSchema, 'Why it was refused.'),
  faults: Type.Array(FaultThatStruck, { description: 'Those that struck it.' }),
  idempotency: orNull(Idempotency, 'Null without a key.'),
  transfer: orNull(TransferSchema, 'The transaction that it caused, or whose outcome it was given.'),
}

const ExchangeSchema = control<RecordedExchange>('Exchange', Type.Object(EXCHANGE))

export const ExplainedExchangeSchema = control<ExplainedExchange>(
  'ExplainedExchange',
  Type.Object({ ...EXCHANGE, explanation: Type.Array(Type.String(), { description: 'What happened, in sentences.' }) }),
)

export const ExchangePageSchema = control<ExchangePage>(
  'ExchangePage',
  Type.Object({
    data: Type.Array(ExchangeSchema, { description: 'Newest first.' }),
    has_more: Type.Boolean({ description: 'True when older ones fit as well.' }),
    next_cursor: textOrNull('Leads to them; null on the last page.'),
  }),
)

export const NextExchangeSchema = control<NextExchange>(
  'NextExchange',
  Type.Object({
    data: orNull(ExchangeSchema, 'Null when none has ended in time.'),
    place: Text('The place after it, for `after`.'),
  }),
)

export const HarSchema = control<Har>(
  'HttpArchive',
  Type.Unsafe<Har>(
    Type.Object({
      log: Type.Object({
        version: Type.Literal('1.2'),
        creator: Type.Object({ name: Type.String(), version: Type.String() }),
        pages: Type.Array(Type.Object({})),
        entries: Type.Array(Type.Unsafe<HarEntry>({ type: 'object', additionalProperties: true }), {
          description: 'Oldest first; see the specification of HAR 1.2.',
        }),
      }),
    }),
  ),
)

/** An answer in one of two forms. */
export const eitherForm = (schema: TSchema): TSchema =>
  Type.Union([schema, HarSchema], { description: 'An HTTP Archive with format=har.' })
