import { type Static, Type } from '@sinclair/typebox'
import { OPERATIONS } from '../domain/operations.ts'
import { TRIAL_OUTCOMES } from '../explore/exploration.ts'

const text = Type.String({ maxLength: 10_000 })
const texts = Type.Array(text)
const exact = { additionalProperties: false }
const oneOf = <W extends string>(words: readonly W[]) => Type.Union(words.map((word) => Type.Literal(word)))
const operation = oneOf(OPERATIONS)
const outcome = oneOf(TRIAL_OUTCOMES)

const ScenarioEvidence = Type.Object(
  {
    name: text,
    verdict: oneOf(['passed', 'failed', 'inconclusive']),
    /** `0`, `1`, `SIGKILL`, `timeout`: how the command ended. */
    end: text,
  },
  exact,
)

const FindingEvidence = Type.Object(
  {
    id: text,
    outcome: oneOf(['contradicted', 'proved', 'unproved']),
    /** Names of the scenarios that show it; none of them shows what is unproved. */
    scenarios: texts,
  },
  exact,
)

const TrialEvidence = Type.Object({ id: text, operation, hazard: text, outcome }, exact)

/** All runs with one fault at one operation, when one of them went wrong. */
const BadCellEvidence = Type.Object(
  {
    operation,
    hazard: text,
    /** The worst of them. */
    outcome,
    /** Id of the first that came to it. */
    trial: text,
    /** How many went wrong, with that one. */
    count: Type.Integer(),
    /** What happened to whose money. */
    sentences: texts,
    /** Ids of the findings that explain it. */
    findings: texts,
    /** A command line that does it again. */
    repeat: text,
  },
  exact,
)

/** Shape of what a certificate rests on. */
export const EvidenceSchema = Type.Object(
  {
    form: Type.Literal('yield-sandbox certificate 1'),
    /** Of the sandbox. */
    version: text,
    /** Version of the API. */
    specification: text,
    /** What was certified, in its maker's words, such as a commit. */
    subject: Type.Union([text, Type.Null()]),
    /** As words. */
    command: texts,
    /** Flags of `certify` that make the same sandbox, as words. */
    flags: texts,
    /** SHA-256 of the fixture file; null for the shipped one. */
    fixtures: Type.Union([text, Type.Null()]),
    seed: Type.Integer(),
    /** Moment at which the clock of every run of the exploration stands, ISO 8601. */
    clock: text,
    scenarios: Type.Array(ScenarioEvidence),
    findings: Type.Array(FindingEvidence),
    exploration: Type.Object(
      {
        /** Whether two runs without faults were the same. */
        repeatable: Type.Boolean(),
        trials: Type.Array(TrialEvidence),
        bad_cells: Type.Array(BadCellEvidence),
      },
      exact,
    ),
  },
  exact,
)

/**
 * What a certificate rests on: ids and outcomes. The same client gives the same evidence, so nothing in it is a time, a duration, an
 * address, a request id, or a number that varies with them.
 */
export type Evidence = Static<typeof EvidenceSchema>
export type FindingOutcome = Evidence['findings'][number]['outcome']
export type BadCell = Evidence['exploration']['bad_cells'][number]
