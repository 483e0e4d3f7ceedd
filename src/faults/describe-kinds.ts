import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { OPERATIONS, type Operation } from '../domain/operations.ts'
import { constantsOf } from '../support/issue-words.ts'
import type { FaultKind } from './fault-kind.ts'
import { KINDS } from './kinds/index.ts'
import { MOMENTS } from './phase.ts'

/** Keywords that serve the messages of refusals, and are no JSON Schema: `examples` of a parameter are words. */
const OF_MESSAGES = ['x-duration', 'examples']

/** Describes every kind for who writes a rule, in the order of a list. */
export function describeKinds() {
  return KINDS.map((kind: FaultKind) => ({
    kind: kind.kind,
    explanation: kind.explain(exampleOf(kind), MOMENTS[kind.phases[0]]),
    group: kind.group,
    phases: [...kind.phases],
    operations: operationsOf(kind),
    with: parametersOf(kind),
  }))
}

/** Valid parameters of a kind: its defaults, as far as they will do. */
function exampleOf({ with: schema }: FaultKind): unknown {
  const [example = {}]: unknown[] = schema.examples ?? []
  return Value.Default(schema, structuredClone(example))
}

/** Operations that a kind can strike, with whatever parameters. */
function operationsOf(kind: FaultKind): Operation[] {
  const { operations } = kind
  if (typeof operations !== 'function') return [...operations]
  const example = exampleOf(kind)
  const chosen = Object.entries<TSchema>(kind.with.properties).flatMap(([name, schema]) =>
    (constantsOf(schema) ?? []).map((word) => ({ ...Object(example), [name]: word })),
  )
  const found = new Set([example, ...chosen].flatMap((parameters) => operations(parameters)))
  return OPERATIONS.filter((operation) => found.has(operation))
}

/** The schema of a kind's `with` as plain JSON Schema: a parameter with a default may be left out, and a choice is an `enum`. */
function parametersOf({ with: schema }: FaultKind): Record<string, unknown> {
  const properties = Object.entries<TSchema>(schema.properties)
  const required = properties.filter(([name, property]) => schema.required?.includes(name) && !('default' in property))
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, property]) => [name, plain(property)])),
    ...(required.length > 0 && { required: required.map(([name]) => name) }),
    additionalProperties: false,
    ...(schema.examples && { examples: schema.examples }),
  }
}

function plain(schema: TSchema): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(schema).filter(([name]) => !OF_MESSAGES.includes(name)))
  const words = constantsOf(schema)
  if (!words) return kept
  const { anyOf: _, ...rest } = kept
  return { type: typeof words[0] === 'number' ? 'integer' : 'string', enum: words, ...rest }
}
