import { type Static, type TObject, type TOptional, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { OPERATIONS, type Operation } from '../domain/operations.ts'
import type { Issue } from '../support/issue.ts'
import { unknownWord } from '../support/issue-words.ts'
import type { FaultKind } from './fault-kind.ts'
import { KINDS, type PARAMETERS } from './kinds/index.ts'
import { Choice, type Filled, issuesOf, OF_END_USER, TRANSFERS } from './parameters.ts'
import { PHASES, type Phase, TRANSFER_PHASES } from './phase.ts'

/** Schema of a rule as it is written. Each kind checks its own `with`. */
export const FaultRuleSchema = Type.Object(
  {
    kind: Choice(
      KINDS.map(({ kind }) => kind),
      { description: 'What goes wrong.' },
    ),
    phase: Type.Optional(Choice(PHASES, { description: "When; the kind's own default if left out." })),
    match: Type.Optional(
      Type.Object(
        {
          operation: Type.Optional(Choice(OPERATIONS, { description: 'Only this operation.' })),
          tenant: Type.Optional(Type.String({ description: 'Only this tenant, by slug.' })),
          external_id: Type.Optional(Type.String({ description: 'Only this end user.' })),
          end_user: Type.Optional(
            Type.Integer({
              minimum: 1,
              description:
                'Only this end user, by order of appearance: 2 is the second whom a request is for, since such a rule was put in force.',
            }),
          ),
          ordinal: Type.Optional(
            Type.Integer({
              minimum: 1,
              description:
                'Only this request of the operation, of those of one end user: 3 is the third, since such a rule was put in force. Of one tenant where the path names no end user.',
            }),
          ),
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
    in_a_row: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'The most attempts in a row of one operation (same tenant, end user, operation and Idempotency-Key) that are struck, by whatever rules; no limit if left out.',
      }),
    ),
    with: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "The kind's own parameters." })),
  },
  { additionalProperties: false },
)

/** Members of a rule of any kind. */
type Common = Omit<Static<typeof FaultRuleSchema>, 'kind' | 'with'>

/** Names of the parameters that a rule may leave out. */
type LeftOut<P extends TProperties> = {
  [Name in keyof P]: P[Name] extends TOptional<TSchema> | Filled<TSchema> ? Name : never
}[keyof P]

/** Parameters as a rule writes them: those with a default may be left out. */
type Written<P extends TProperties> = { [Name in Exclude<keyof P, LeftOut<P>>]: Static<P[Name]> } & {
  [Name in LeftOut<P>]?: Static<P[Name]>
}

type RuleOf<Name extends string, With> =
  With extends TObject<infer P>
    ? Common & { kind: Name } & (Record<never, never> extends Written<P> ? { with?: Written<P> } : { with: Written<P> })
    : never

/** A rule as it is written: `kind` decides which parameters `with` has. */
export type FaultRule = {
  [Name in keyof typeof PARAMETERS]: RuleOf<Name, (typeof PARAMETERS)[Name]>
}[keyof typeof PARAMETERS]

/** A rule that was found valid, with its defaults. */
export interface CheckedRule {
  kind: FaultKind
  phase: Phase
  match: NonNullable<Common['match']>
  /** Operations it can strike: those of the kind that have the phase and that the match allows. */
  operations: ReadonlySet<Operation>
  skip: number
  times: number
  probability: number
  in_a_row: number
  with: unknown
}

/** Ids of the pools of a namespace. */
export interface RulePools {
  ids: readonly string[]
  /** Pools on forks of real chains: their markets belong to others. */
  forked: readonly string[]
}

/**
 * Checks a rule of unknown shape. `tenants`: slugs that it may name; `pools`: pools that it may name, any when not given. Returns the
 * rule with its defaults, or the issues found.
 */
export function checkRule(input: unknown, tenants: readonly string[], pools?: RulePools): CheckedRule | Issue[] {
  if (!Value.Check(FaultRuleSchema, input)) return issuesOf(FaultRuleSchema, input)
  const { match = {}, skip = 0, times = 1, probability = 1, in_a_row = Number.POSITIVE_INFINITY } = input
  const kind = KINDS.find((candidate) => candidate.kind === input.kind)
  if (!kind) throw new Error(`the schema let ${input.kind} pass`)
  const phase = kind.phases.find((candidate) => candidate === (input.phase ?? kind.phases[0]))
  if (!phase) {
    const message = `${kind.kind} cannot strike at ${input.phase}`
    return [{ path: ['phase'], message, fix: `use one of ${kind.phases.join(', ')}` }]
  }
  if (match.tenant !== undefined && !tenants.includes(match.tenant)) {
    return [{ path: ['match', 'tenant'], ...unknownWord(match.tenant, tenants) }]
  }
  const miscounted = countIssue(match)
  if (miscounted) return [miscounted]
  const parameters: unknown = Value.Default(kind.with, structuredClone(input.with ?? {}))
  const wrong = issuesOf(kind.with, parameters, ['with'])
  if (wrong.length > 0) return wrong
  const contradiction = kind.check?.(parameters, phase)
  if (contradiction) return [{ ...contradiction, path: ['with', ...contradiction.path] }]
  const outOfReach = kind.pool && pools && poolIssue(kind.pool(parameters), pools)
  if (outOfReach) return [outOfReach]
  const operations = operationsOf(kind, phase, match, parameters)
  if (!(operations instanceof Set)) return [operations]
  const limit = times === 'always' ? Number.POSITIVE_INFINITY : Number(times)
  return { kind, phase, match, operations, skip, times: limit, probability, in_a_row, with: parameters }
}

/** Finds an issue with the pool that a rule changes: the named one, or, if none is named, that of any transfer. */
function poolIssue(pool: string | undefined, { ids, forked }: RulePools): Issue | undefined {
  if (pool !== undefined && !ids.includes(pool)) return { path: ['with', 'pool'], ...unknownWord(pool, ids) }
  const own = ids.filter((id) => !forked.includes(id))
  if (pool === undefined ? own.length > 0 || ids.length === 0 : !forked.includes(pool)) return undefined
  const whose = pool === undefined ? 'every pool' : `"${pool}"`
  const fix = own.length > 0 ? `name one of ${own.join(', ')}` : 'use revert, which makes a transfer fail on any chain'
  return {
    path: ['with', 'pool'],
    message: `${whose} is on a fork of a real chain, whose markets belong to others`,
    fix,
  }
}

/** Finds a contradiction among the keys of a match that count requests. */
function countIssue({ operation, external_id, end_user, ordinal }: CheckedRule['match']): Issue | undefined {
  if (ordinal !== undefined && operation === undefined) {
    return {
      path: ['match', 'ordinal'],
      message: `${ordinal} is given without an operation`,
      fix: 'say of which operation',
    }
  }
  if (end_user !== undefined && external_id !== undefined) {
    const message = `${end_user} is given beside external_id "${external_id}"`
    return { path: ['match', 'end_user'], message, fix: 'give one of the two' }
  }
  return undefined
}

/** Returns the operations that a rule can strike, or an issue with its match when there are none. */
function operationsOf(
  kind: FaultKind,
  phase: Phase,
  { operation, external_id, end_user }: CheckedRule['match'],
  parameters: unknown,
): Set<Operation> | Issue {
  const all = typeof kind.operations === 'function' ? kind.operations(parameters) : kind.operations
  const atPhase = TRANSFER_PHASES.has(phase) ? all.filter((candidate) => TRANSFERS.includes(candidate)) : all
  if (operation !== undefined && !atPhase.includes(operation)) {
    const when = all.includes(operation) ? ` at ${phase}` : ''
    const how = typeof kind.operations === 'function' ? ` with ${JSON.stringify(parameters)}` : ''
    const message = `${kind.kind}${how} can never strike ${operation}${when}`
    return { path: ['match', 'operation'], message, fix: `use one of ${atPhase.join(', ')}` }
  }
  const named = atPhase.filter((candidate) =>
    operation === undefined ? !kind.onlyNamed?.includes(candidate) : candidate === operation,
  )
  const whose = external_id !== undefined ? 'external_id' : end_user !== undefined ? 'end_user' : undefined
  const ofUser = whose === undefined ? named : named.filter((candidate) => OF_END_USER.includes(candidate))
  if (ofUser.length > 0) return new Set(ofUser)
  const message = `${named.join(', ')} has no external_id in its path`
  return { path: ['match', whose ?? 'external_id'], message, fix: `leave it out, or use ${OF_END_USER.join(', ')}` }
}

/**
 * Parses the rule of one request's header: `drop_connection; phase=after_broadcast`. Parameters other than the rule's own fill
 * `with`; numbers, `true` and `false` are read as such.
 */
export function parseFaultHeader(header: string): Record<string, unknown> {
  return readWords(header, HEADER_RULE, new Set())
}

/** Parameters of a header that are the rule's own: other members of a rule make no sense for one request. */
const HEADER_RULE = new Set(['phase', 'probability'])

/** Parameters of a line that are the rule's own. */
const TEXT_RULE = new Set(['phase', 'skip', 'times', 'probability', 'in_a_row'])
/** Parameters of a line that belong to the rule's match. */
const TEXT_MATCH = new Set(['operation', 'tenant', 'external_id', 'end_user', 'ordinal'])

/**
 * Parses a rule on one line. It is written as in X-Sandbox-Fault, but is for many requests, so it also has a match and counts:
 * `drop_connection; phase=after_broadcast; operation=deposit; times=2`.
 */
export function parseFaultText(text: string): Record<string, unknown> {
  return readWords(text, TEXT_RULE, TEXT_MATCH)
}

/** Reads a kind and its parameters: names in `own` are members of the rule, names in `match` of its match, others of `with`. */
function readWords(text: string, own: ReadonlySet<string>, match: ReadonlySet<string>): Record<string, unknown> {
  const [kind = '', ...parameters] = (text.match(PARTS) ?? []).map((part) => part.trim())
  const rule: Record<string, unknown> = { kind }
  const parts = { match: {}, with: {} }
  for (const parameter of parameters.filter(Boolean)) {
    const [word = '', ...value] = parameter.split('=')
    const name = word.trim()
    const part = own.has(name) ? rule : match.has(name) ? parts.match : parts.with
    const text = value.join('=').trim()
    // A name in the match stays text even if it looks like a number.
    const read = part === parts.match && !COUNTS.has(name) ? unquoted(text) : literal(text)
    Object.defineProperty(part, name, { value: read, enumerable: true, configurable: true, writable: true })
  }
  return { ...rule, ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)) }
}

/** Members of a match that are numbers. */
const COUNTS = new Set(['end_user', 'ordinal'])

/** Parts between semicolons; a semicolon in quotation marks belongs to a value. */
const PARTS = /(?:"[^"]*"|[^;])+/g

function literal(word: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word)
  return word === 'true' ? true : word === 'false' ? false : unquoted(word)
}

function unquoted(word: string): string {
  return /^"(.*)"$/.exec(word)?.[1] ?? word
}
