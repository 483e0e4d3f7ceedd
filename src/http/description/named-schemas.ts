import { SCHEMA_NAME } from '../../domain/described-schema.ts'
import type { Json } from './components.ts'

/** Keywords whose values are data, not schemas. */
const VALUES = new Set(['const', 'default', 'enum', 'example', 'examples'])

const REFERENCE = '#/components/schemas/'

/** Collects schemas under their names, and replaces each by a reference. */
export class NamedSchemas {
  readonly schemas: Record<string, Json> = {}

  /** A copy of `part` with references in the place of named schemas, in forms that client generators know. */
  refer(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((member) => this.refer(member))
    if (part === null || typeof part !== 'object') return part
    const { [SCHEMA_NAME]: name, ...rest } = part as Json
    const entries = Object.entries(inKnownForm(rest)).map(([key, value]) => [
      key,
      VALUES.has(key) ? value : this.refer(value),
    ])
    const copy: Json = Object.fromEntries(entries)
    return typeof name === 'string' ? this.#put(name, copy) : copy
  }

  #put(name: string, schema: Json): Json {
    const known = this.schemas[name]
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`two schemas are named ${name}`)
    this.schemas[name] = schema
    return { $ref: `${REFERENCE}${name}` }
  }
}

/** Words as `enum`, free members as `additionalProperties`; without the titles, which are for error messages. */
function inKnownForm({ title, patternProperties, anyOf, ...schema }: Json): Json {
  const values = anyOf === undefined ? undefined : constants(anyOf)
  return {
    // A property may be called title too; that one stays.
    ...(title !== undefined && typeof title !== 'string' && { title }),
    ...schema,
    ...(anyOf !== undefined && (values ? { type: 'string', enum: values } : { anyOf })),
    ...(patternProperties !== undefined && { additionalProperties: true }),
  }
}

/** The words of a union that consists of words only; undefined for others. */
function constants(members: unknown): string[] | undefined {
  if (!Array.isArray(members) || members.length === 0) return undefined
  const words = members.map((member: Json) => member.const)
  return words.every((word) => typeof word === 'string') ? words : undefined
}
