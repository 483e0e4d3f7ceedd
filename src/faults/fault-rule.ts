import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ParameterFault } from '../domain/errors.ts'
import { suggest } from '../domain/nearest.ts'
import { OPERATIONS } from '../domain/operations.ts'
import type { FaultKind } from './fault-kind.ts'
import { KINDS } from './kinds/index.ts'
import { PHASES, type Phase } from './phase.ts'

const oneOf = (values: readonly string[], description: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  )

/** A fault as a rule asks for it. */
export const FaultRuleSchema = Type.Object(
  {
    kind: oneOf(
      KINDS.map(({ kind }) => kind),
      'What goes wrong.',
    ),
    phase: Type.Optional(oneOf(PHASES, "When; the kind's own default if left out.")),
    match: Type.Optional(
      Type.Object(
        {
          operation: Type.Optional(oneOf(OPERATIONS, 'Only this operation.')),
          tenant: Type.Optional(Type.String({ description: 'Only this tenant, by slug.' })),
          external_id: Type.Optional(Type.String({ description: 'Only this end user.' })),
        },
        { additionalProperties: false, description: 'Where: every key given must fit.' },
      ),
    ),
    skip: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Matching requests let through first.' })),
    times: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('always')], { default: 1, description: 'How often.' }),
    ),
    probability: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, default: 1, description: 'Chance to strike; drawn from the seed.' }),
    ),
    with: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "The kind's own parameters." })),
  },
  { additionalProperties: false },
)

/** A rule as it is written. */
export type FaultRule = Static<typeof FaultRuleSchema>

/** A rule that was found sound, with its defaults filled in. */
export interface SoundRule {
  kind: FaultKind
  phase: Phase
  match: NonNullable<FaultRule['match']>
  skip: number
  times: number
  probability: number
  with: Record<string, unknown>
}

/** Checks a rule of unknown shape; `tenants` are the slugs it may name. Returns what is wrong with it, by parameter. */
export function checkRule(input: unknown, tenants: readonly string[]): SoundRule | ParameterFault[] {
  const faults = [...Value.Errors(FaultRuleSchema, input)].map(({ path, message, value, schema }) => {
    const allowed = literals(schema)
    return fault(path, allowed ? notOneOf(value, allowed) : message)
  })
  if (faults.length > 0 || !Value.Check(FaultRuleSchema, input)) return faults
  const { match = {}, skip = 0, times = 1, probability = 1, with: parameters = {} } = input
  const kind = KINDS.find((candidate) => candidate.kind === input.kind)
  if (!kind) throw new Error(`the schema let ${input.kind} pass`)
  const phase = kind.phases.find((candidate) => candidate === (input.phase ?? kind.phases[0]))
  if (!phase) return [fault('/phase', `${kind.kind} strikes at ${kind.phases.join(', ')}`)]
  if (match.tenant !== undefined && !tenants.includes(match.tenant)) {
    return [fault('/match/tenant', notOneOf(match.tenant, tenants))]
  }
  const wrong = [...Value.Errors(kind.with, parameters)]
  if (wrong.length > 0) return wrong.map(({ path, message }) => fault(`/with${path}`, message))
  const limit = times === 'always' ? Number.POSITIVE_INFINITY : Number(times)
  return { kind, phase, match, skip, times: limit, probability, with: parameters }
}

/** The words a schema lets one choose from, when it is such a schema. */
function literals(schema: TSchema): string[] | undefined {
  const members: unknown[] = Array.isArray(schema.anyOf) ? schema.anyOf : []
  const words = members.map((member) =>
    member !== null && typeof member === 'object' && 'const' in member ? String(member.const) : undefined,
  )
  return words.length > 0 && words.every((word) => word !== undefined) ? words : undefined
}

function fault(path: string, message: string): ParameterFault {
  const param = path.replaceAll('/', '.').replace(/^\./, '')
  return { param: param || 'body', detail: message }
}

function notOneOf(value: unknown, allowed: readonly string[]): string {
  return `${JSON.stringify(value) ?? 'nothing'} is not known; ${suggest(String(value), allowed)}`
}
