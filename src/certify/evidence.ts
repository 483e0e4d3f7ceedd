import { type Static, Type } from '@sinclair/typebox'
import { OPERATIONS } from '../domain/operations.ts'
import { TRIAL_OUTCOMES } from '../explore/exploration.ts'
import { LEVELS, type Level, type OperationType, OUTCOMES, type OutcomeId } from '../oracle/outcome.ts'

/** The form of evidence that this version writes and reads. */
export const FORM = 'yield-sandbox certificate 2'

const OUTCOME_IDS = Object.keys(OUTCOMES) as OutcomeId[]
const OPERATION_TYPES = ['deposit', 'withdraw', 'create_portfolio'] as const satisfies readonly OperationType[]

const text = Type.String({ maxLength: 10_000 })
const texts = Type.Array(text)
const exact = { additionalProperties: false }
const oneOf = <const W extends string>(words: readonly W[]) => Type.Union(words.map((word) => Type.Literal(word)))
const operation = oneOf(OPERATIONS)
const outcome = oneOf(TRIAL_OUTCOMES)
const level = oneOf(LEVELS)

/** Operations of one kind with the same outcome in a scenario, unless all is well. */
const OperationEvidence = Type.Object(
  {
    type: oneOf(OPERATION_TYPES),
    /** Null for end users whose names differ in every run, and for an operation without an end user. */
    external_id: Type.Union([text, Type.Null()]),
    outcome: oneOf(OUTCOME_IDS),
    level,
    /** Number of such operations. */
    count: Type.Integer(),
  },
  exact,
)

const ScenarioEvidence = Type.Object(
  {
    name: text,
    verdict: oneOf(['passed', 'failed', 'inconclusive']),
    /** How the command ended: `0`, `1`, `SIGKILL`, `timeout`. */
    end: text,
    /** True if a right client may make the command fail here. */
    may_fail: Type.Boolean(),
    /** Operations of which not all is well, the worst first. */
    operations: Type.Array(OperationEvidence),
  },
  exact,
)

const FindingEvidence = Type.Object(
  {
    id: text,
    /** Contradicted where any scenario contradicts it, else proved where any proves it. */
    outcome: oneOf(['contradicted', 'proved', 'unproved']),
    /** Names of the scenarios that contradict it, that prove it, and that need review. */
    contradicted_in: texts,
    proved_in: texts,
    review_in: texts,
  },
  exact,
)

const TrialEvidence = Type.Object({ id: text, operation, hazard: text, outcome, level }, exact)

/** Deposits less withdrawals of one end user in one pool, in minor units, where they are not what they are without faults. */
const MoneyEvidence = Type.Object(
  {
    tenant: text,
    /** Null for end users whose names differ in every run. */
    external_id: Type.Union([text, Type.Null()]),
    pool_id: text,
    token_symbol: text,
    token_decimals: Type.Integer(),
    before_minor: text,
    expected_minor: text,
    is_minor: text,
  },
  exact,
)

/** All runs with one fault at one operation, if one of them went wrong or needs review. */
const IncidentEvidence = Type.Object(
  {
    operation,
    hazard: text,
    /** The worst outcome of these runs. */
    outcome,
    level,
    /** Id of the first run with this outcome. */
    trial: text,
    /** Number of runs that went wrong or need review, including that one. */
    count: Type.Integer(),
    /** Say what happened, and to whose money. */
    sentences: texts,
    /** Ids of the findings that explain it. */
    findings: texts,
    /** A command line that repeats the run. */
    repeat: text,
    /** Left out where all of it is where it should be, and in certificates of earlier versions. */
    money: Type.Optional(Type.Array(MoneyEvidence)),
  },
  exact,
)

/** Shape of the evidence of a certificate. */
export const EvidenceSchema = Type.Object(
  {
    form: Type.Literal(FORM),
    /** Version of the sandbox. */
    version: text,
    /** Version of the API. */
    specification: text,
    /** The subject in the words of the certificate's maker, such as a commit. */
    subject: Type.Union([text, Type.Null()]),
    /** The words of the command. */
    command: texts,
    /** Flags of `certify` that give the same sandbox, as words. */
    flags: texts,
    /** SHA-256 of the fixture file; null for the shipped one. */
    fixtures: Type.Union([text, Type.Null()]),
    seed: Type.Integer(),
    /** Frozen time of the clock in every run of the exploration, ISO 8601. */
    clock: text,
    scenarios: Type.Array(ScenarioEvidence),
    findings: Type.Array(FindingEvidence),
    exploration: Type.Object(
      {
        /** True if two runs without faults did not differ. */
        repeatable: Type.Boolean(),
        /** Reason why the command was never killed and started again; null where it was. Left out by earlier versions, which never did. */
        not_restartable: Type.Optional(Type.Union([text, Type.Null()])),
        trials: Type.Array(TrialEvidence),
        incidents: Type.Array(IncidentEvidence),
      },
      exact,
    ),
  },
  exact,
)

/**
 * The evidence of a certificate: ids and outcomes. The same client gives the same evidence, so it contains no time, duration, address
 * or request id, and no number that varies with them.
 */
export type CertificateEvidence = Static<typeof EvidenceSchema>
export type FindingOutcome = CertificateEvidence['findings'][number]['outcome']
export type CertifiedIncident = CertificateEvidence['exploration']['incidents'][number]
export type ScenarioEvidence = CertificateEvidence['scenarios'][number]

/** @returns true if a person has to look before the client can be called right */
export function isOpen(level: Level): boolean {
  return level === 'review' || level === 'inconclusive'
}

/** "deposit of alice: left open (review)", "3 deposits: ..." */
export function operationInWords({
  type,
  external_id,
  outcome,
  level,
  count,
}: ScenarioEvidence['operations'][number]): string {
  const noun = type.replaceAll('_', ' ')
  const whose = external_id === null ? '' : ` of ${external_id}`
  return `${count > 1 ? `${count} × ` : ''}${noun}${whose}: ${OUTCOMES[outcome].title} (${level})`
}
