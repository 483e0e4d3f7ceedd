import { type SchemaOptions, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

/** Keyword of a schema that the interface's description lists under this name, for client generators to name a type after. */
export const SCHEMA_NAME = 'x-name'

/** The schema under a name of its own in the description. Validation does not change. */
export function named<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, [SCHEMA_NAME]: name }
}

/** Words of an answer to which others may come (spec: Versioning 3): a client must be able to read one it does not know. */
export function openList<const Word extends string>(
  words: readonly Word[],
  options: SchemaOptions,
): TUnsafe<Word | (string & {})> {
  return Type.Unsafe({ anyOf: [{ type: 'string', enum: [...words] }, { type: 'string' }], ...options })
}

/** The word for what the specification itself says, among ids of rows of the fidelity manifest. */
export const SPECIFICATION = 'specification'

/** Where something in the description comes from. */
export interface Source {
  'x-source'?: typeof SPECIFICATION
  'x-assumption'?: string
}

/** The marks that say so; `origins` are {@link SPECIFICATION} and ids of rows of the fidelity manifest. */
export function from(...origins: readonly string[]): Source {
  const rows = [...new Set(origins.filter((origin) => origin !== SPECIFICATION))]
  return {
    ...(origins.includes(SPECIFICATION) && { 'x-source': SPECIFICATION }),
    ...(rows.length > 0 && { 'x-assumption': rows.join(', ') }),
  }
}
