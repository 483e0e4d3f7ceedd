import { Type } from '@sinclair/typebox'
import { BOOKS_VERDICTS, type BooksSaid } from '../books/books.ts'
import { LEVELS, type MovedWrongly, type OperationOutcome, OUTCOMES, type OutcomeId } from '../oracle/outcome.ts'
import { FINDING_IDS } from '../verdict/finding-ids.ts'
import type { Report } from '../verdict/report.ts'
import { Count, control, Moment, oneOf, orNull, Text } from './schema-parts.ts'

const Ids = Type.Array(Type.String(), { description: 'Ids of the requests that show it, oldest first.' })

const CauseSchema = control(
  'ConfigurationCause',
  Type.Object({
    id: Text('What kind of mistake it is.'),
    title: Text('What is wrong.'),
    expected: Text('What a client that is set up right sends.'),
    came: Text('What came.'),
    fix: Text('What to do.'),
    blocking: Type.Boolean({ description: 'Whether no request of that client ever got past the check.' }),
    count: Count('How many requests were refused for it.'),
    request_ids: Ids,
  }),
)

const AmountSchema = control(
  'StatedAmount',
  Type.Object({
    amount_minor: Text('Minor units, a digit string.'),
    token_symbol: orNull(Type.String(), 'Null where no portfolio shows it.'),
    token_decimals: orNull(Type.Integer(), 'Null where no portfolio shows it.'),
  }),
)

const MovedWronglySchema = control<MovedWrongly>(
  'MoneyMovedWrongly',
  Type.Object(
    {
      tenant: Text('Slug.'),
      external_id: Text('Of the end user.'),
      portfolio_id: Text('Its portfolio.'),
      amount_minor: Text('Of one transfer: minor units, a digit string.'),
      token_symbol: Type.String(),
      token_decimals: Type.Integer(),
      times: Type.Integer({ minimum: 1, description: 'How many transfers were too many: 1 for what was paid twice.' }),
    },
    { description: 'Only where the money is wrong at the end.' },
  ),
)

export const ReportedFindingSchema = control(
  'Finding',
  Type.Object({
    id: oneOf(FINDING_IDS, 'Which finding.'),
    title: Text('What is right; when it failed, what is wrong and what it costs.'),
    outcome: oneOf(
      ['passed', 'failed', 'needs_review', 'not_exercised', 'errored'],
      'needs_review: traffic alone cannot tell. errored: the judge itself failed.',
    ),
    impact: oneOf(['critical', 'serious', 'minor'], 'What it costs in production.'),
    rule: Text('The rule of the specification.'),
    explanation: Text('What happened.'),
    consequence: Text('What happens to whom if it stays so.'),
    expected: Type.Optional(Text('What a right client would have sent.')),
    came: Type.Optional(Text('What came.')),
    fix: Type.Optional(Text('What to do.')),
    exercise_with: Type.Optional(Text('A command that brings the situation about.')),
    required: Type.Boolean({ description: 'Whether the scenario or `require` asks for it.' }),
    request_ids: Ids,
    amounts: Type.Optional(
      Type.Array(AmountSchema, { description: 'The amounts in minor units that its texts state.' }),
    ),
    money_moved_wrongly: Type.Optional(MovedWronglySchema),
    explained_by: Type.Optional(
      oneOf(FINDING_IDS, 'When it needs review: the broken rule that names the same requests.'),
    ),
  }),
)

const CoveredSchema = control(
  'Covered',
  Type.Object({ id: Type.String(), exercised: Type.Boolean(), count: Count('How often it occurred.') }),
)

const ExchangeLineSchema = control(
  'ExchangeLine',
  Type.Object({
    request_id: Text('Its id.'),
    operation: orNull(Type.String(), 'Null when the path is none of the service.'),
    tenant: orNull(Type.String(), 'Slug, verified or claimed.'),
    external_id: orNull(Type.String(), 'Of the end user.'),
    request: Text('Method and path.'),
    request_body: orNull(Type.String(), 'At most 2048 characters of it; null without one, or when none was read.'),
    answer: Text('Status and code, or how the connection ended.'),
    arrived: Type.Boolean({ description: 'Whether the answer reached the client.' }),
    idempotency_key: orNull(Type.String(), 'Null without one.'),
    fault: orNull(Type.String(), 'What struck it.'),
    connection: Count('Ordinal of its connection.'),
    at_ms: Type.Number({ description: 'Milliseconds since the first exchange of the report.' }),
    took_ms: Type.Number({ description: 'Milliseconds until it ended.' }),
    tx_hash: orNull(Type.String(), 'Of the transaction that it caused or was told of.'),
    shown_by: orNull(Type.String(), 'The request whose answer showed the total that it withdraws.'),
  }),
)

const OperationSchema = control<OperationOutcome>(
  'OperationOutcome',
  Type.Object({
    outcome: oneOf(
      Object.keys(OUTCOMES) as OutcomeId[],
      'What became of it, by the ledger and by what its client was told.',
    ),
    level: oneOf(LEVELS, 'What that costs.'),
    sentence: Text('What happened.'),
    tenant: orNull(Type.String(), 'Slug.'),
    external_id: orNull(Type.String(), 'Of the end user.'),
    type: oneOf(['deposit', 'withdraw', 'create_portfolio'], 'What was asked for.'),
    idempotency_key: orNull(Type.String(), 'Null without one.'),
    amount_minor: orNull(Type.String(), 'Asked for, in minor units; null where no request says it.'),
    portfolio_id: orNull(Type.String(), 'Null where no request says it.'),
    request_ids: Ids,
    money_moved_wrongly: Type.Optional(MovedWronglySchema),
  }),
)

const BooksSaidSchema = control<BooksSaid>(
  'BooksSaid',
  Type.Object({
    verdict: oneOf(BOOKS_VERDICTS, 'lag: right, but for transfers that are open though the client was told.'),
    sentence: Text('What the books came to.'),
    done: Count('Transfers that are done in the books.'),
    failed: Count('Transfers that have failed in the books.'),
    open: Count('Transfers that are open in the books.'),
    balances: Count('Balances in the books.'),
  }),
)

const covered = (what: string) => Type.Array(CoveredSchema, { description: `${what}, and whether they occurred.` })

/** The report in a form for people or for tools. */
export const RenderedSchema = control('RenderedReport', Text('The report in this form.'))

/** The report for code scanning. */
export const SarifSchema = control(
  'SarifLog',
  Type.Object({}, { additionalProperties: true, description: 'SARIF 2.1.0.' }),
)

/** The report on the clients of a namespace. */
export const ReportSchema = control<Report>(
  'Report',
  Type.Object({
    verdict: oneOf(['passed', 'failed', 'inconclusive'], 'What the findings come to.'),
    summary: Text('The verdict in one sentence.'),
    headline: Text('One sentence on the money, for the top of a page.'),
    proved: Count('Findings that are passed.'),
    contradicted: Count('Findings that are failed.'),
    unproved: Count('All others.'),
    scenario: Type.Optional(Text('Name of the scenario started last.')),
    seed: Type.Integer({ description: 'What every random choice derives from.' }),
    created_at: Moment('Wall-clock time.'),
    version: Text('Version of the sandbox.'),
    unmet: Type.Array(Type.String(), { description: 'What was asked for and did not come about.' }),
    configuration: Type.Array(CauseSchema, { description: 'Mistakes in the set-up: what explains refusals best.' }),
    findings: Type.Array(ReportedFindingSchema, { description: 'Every finding, the gravest first.' }),
    coverage: Type.Object({
      operations: covered('Operations'),
      errors: covered('Error codes that the service can answer with'),
      faults: covered('Kinds of faults'),
    }),
    operations: Type.Array(OperationSchema, {
      description: 'What became of every operation that the client sent, the worst first.',
    }),
    books: Type.Optional({ ...BooksSaidSchema, description: 'What `exec --books` came to; absent without it.' }),
    exchanges: Type.Array(ExchangeLineSchema, { description: 'Those that configuration and findings name.' }),
  }),
)
