import { type TSchema, Type } from '@sinclair/typebox'
import { LEVELS } from '../../oracle/outcome.ts'
import { TRIAL_OUTCOMES } from '../exploration.ts'

/** Members beyond these belong to later versions, and to reports. */
const object = <P extends Record<string, TSchema>>(members: P) => Type.Object(members)
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const words = Type.Array(Type.String())

const Harm = object({
  position: object({
    operation: Type.String(),
    tenant: orNull(Type.String()),
    external_id: orNull(Type.String()),
    end_user: orNull(Type.Integer({ minimum: 1 })),
    ordinal: Type.Integer({ minimum: 1 }),
  }),
  hazard: object({ id: Type.String(), title: Type.String(), rule: object({ kind: Type.String() }) }),
})

/** A line of the results file, as a report needs it. */
export const ResultSchema = object({
  trial: object({ id: Type.String(), harms: Type.Array(Harm, { minItems: 1 }) }),
  outcome: Type.Union(TRIAL_OUTCOMES.map((outcome) => Type.Literal(outcome))),
  level: Type.Union(LEVELS.map((level) => Type.Literal(level))),
  sentences: Type.Array(Type.String(), { minItems: 1 }),
  operations: Type.Array(
    object({ outcome: Type.String(), level: Type.String(), sentence: Type.String(), type: Type.String() }),
  ),
  findings: Type.Array(object({ id: Type.String(), title: Type.String(), explanation: Type.String() })),
  end: Type.String(),
  took_ms: Type.Number({ minimum: 0 }),
  overhead_ms: Type.Number(),
  repeat: Type.String(),
  smallest: Type.Optional(
    object({ harms: Type.Array(Harm, { minItems: 1 }), minimal: Type.Boolean(), file: Type.String() }),
  ),
})

/** The first line of the file. */
export const HeaderSchema = object({
  form: Type.Integer(),
  version: Type.String(),
  command: words,
  flags: words,
  files: Type.Record(Type.String(), Type.String()),
  seed: Type.Integer({ minimum: 0 }),
  clock: Type.String(),
  baseline: object({
    exchanges: Type.Integer({ minimum: 0 }),
    positions: Type.Integer({ minimum: 0 }),
    took_ms: Type.Array(Type.Number()),
    difference: orNull(Type.String()),
    left_behind: words,
    shared_keys: Type.Integer({ minimum: 0 }),
  }),
  places: words,
})
