import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import { OPERATIONS } from '../domain/operations.ts'
import { type FaultRule, FaultRuleSchema } from '../faults/fault-rule.ts'
import { KINDS } from '../faults/kinds/index.ts'
import { FINDING_IDS, type FindingId } from '../verdict/finding-ids.ts'
import { count, object, oneOf, strict, text } from '../yaml-file/schema-words.ts'

const after = object(
  'an operation and how often (operation, times)',
  'Moves when the service has answered this operation so many times with success; at the start if left out.',
  {
    operation: oneOf(OPERATIONS, 'The operation whose answers are counted.'),
    times: Type.Optional(count('a number of answers', 1, 1000, 1, 'Successful answers since the start. Default 1.')),
  },
  { operation: 'list_transactions', times: 1 },
)

const when = { after: Type.Optional(after) }

const clockMove = Type.Union(
  [
    object('a step (advance)', 'Moves business time on.', {
      advance: text('a duration such as "2s", "24h" or "8d"', '.', '8d', 'How far.'),
      ...when,
    }),
    object('a moment (set)', 'Moves business time to a later moment.', {
      set: text('a moment such as "2030-01-01T00:00:00Z"', '.', '2030-01-01T00:00:00Z', 'Which one, ISO 8601 UTC.'),
      ...when,
    }),
    object('a halt (freeze)', 'Stops business time, or lets it run on.', {
      freeze: Type.Boolean({ title: 'true or false', description: 'true stops it, false lets it run on.' }),
      ...when,
    }),
  ],
  {
    title: 'a clock move: one of advance, set or freeze, and after',
    examples: [{ advance: '8d' }],
    description: 'One move of the sandbox clock.',
  },
)

/** How the command that the client is part of is expected to end. */
const COMMAND_ENDS = ['well', 'may_fail'] as const

const seen = <const T extends readonly string[]>(choice: T, what: string) =>
  Type.Optional(
    Type.Array(oneOf(choice, `One of the ${what}.`), {
      title: `a list of ${what}`,
      examples: [[choice[0]]],
      description: `These ${what} must have occurred.`,
    }),
  )

/** Builds the schema of expectations around the schema of a finding's id. */
function expectation<T extends TSchema>(finding: T) {
  return object('what is expected (command, findings, traffic)', 'What the client is to be judged by.', {
    command: Type.Optional(
      oneOf(
        COMMAND_ENDS,
        'may_fail: a right client may refuse what it was asked for here, so a suite that asserts success fails, and the verdict does not count it. Default: well.',
      ),
    ),
    findings: Type.Optional(
      Type.Array(finding, {
        title: 'a list of ids of findings',
        examples: [['idempotency-key-on-retry']],
        description: 'Findings that must be passed.',
      }),
    ),
    traffic: Type.Optional(
      object('the traffic expected (operations, errors, faults)', 'What must have been seen for a verdict.', {
        operations: seen(OPERATIONS, 'operations'),
        errors: seen(Object.keys(ERRORS) as ErrorCode[], 'error codes'),
        faults: seen(
          KINDS.map(({ kind }) => kind),
          'kinds of faults',
        ),
      }),
    ),
  })
}

/** Shape of the expectations of a scenario. */
export const ExpectationSchema = expectation(oneOf(FINDING_IDS, 'Id of a finding; docs/findings.md has them all.'))

/** The same before the ids are checked: the loader reports ids of earlier versions in its own words. */
const AnyExpectation = expectation(
  Type.Unsafe<FindingId>(text('the id of a finding', '.', 'idempotency-key-on-retry', 'Id of a finding.')),
)

/** Builds the schema of a scenario file around that of a fault rule. */
export function scenarioSchema<R extends TSchema, E extends TSchema>(rule: R, expect: E) {
  return Type.Object(
    {
      $schema: Type.Optional(
        Type.String({ title: 'the address of a JSON Schema', description: 'For editors, in JSON files.' }),
      ),
      name: text(
        'a name of at most 64 lowercase letters, digits and -',
        '^[a-z0-9]{1,64}$|^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)+$',
        'dropped-deposit',
        'What the scenario is started by.',
      ),
      description: Type.String({
        title: 'a description of 1 to 1000 characters',
        minLength: 1,
        maxLength: 1000,
        examples: ['The connection breaks after the deposit was broadcast.'],
        description: 'What happens, and what a correct client does about it.',
      }),
      faults: Type.Optional(
        Type.Array(rule, {
          title: 'a list of fault rules',
          maxItems: 100,
          examples: [[{ kind: 'drop_connection' }]],
          description: 'Rules put in force together at the start, as POST /_sandbox/faults takes them.',
        }),
      ),
      clock: Type.Optional(
        Type.Array(clockMove, {
          title: 'a list of clock moves',
          maxItems: 100,
          examples: [[{ advance: '8d' }]],
          description: 'Moves of the sandbox clock, in this order.',
        }),
      ),
      expect: Type.Optional(expect),
    },
    { ...strict, title: 'a mapping with name and description', description: 'A scenario: faults and clock moves.' },
  )
}

/** Shape of a scenario file except for its rules and findings, which have error messages of their own. */
export const ScenarioSchema = scenarioSchema(
  Type.Unsafe<FaultRule>(
    Type.Object({}, { title: 'a fault rule such as {kind: drop_connection}', examples: [{ kind: 'drop_connection' }] }),
  ),
  AnyExpectation,
)

/** The JSON Schema for editors (`scenarios/schema.json`), rules included. */
export const EditorSchema = scenarioSchema(FaultRuleSchema, ExpectationSchema)

/** Content of a scenario file that {@link ScenarioSchema} accepted. */
export type ScenarioFile = Static<typeof ScenarioSchema>
/** One move of the sandbox clock. */
export type ScenarioClockMove = Static<typeof clockMove>
/** Expectations by which the client is judged. */
export type Expectation = Static<typeof ExpectationSchema>

/** @returns true if a right client may make its command fail in this scenario */
export function mayFail(scenario: Pick<Scenario, 'expect'> | undefined): boolean {
  return scenario?.expect.command === 'may_fail'
}

/** A scenario: faults, clock moves, and what is expected of the client. */
export interface Scenario {
  name: string
  description: string
  faults: FaultRule[]
  clock: ScenarioClockMove[]
  expect: Expectation
}
