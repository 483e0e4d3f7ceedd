import { type SchemaOptions, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

/** Schema keyword with the name under which the API description lists the schema; client generators name a type after it. */
export const SCHEMA_NAME = 'x-name'

/** Gives the schema a name of its own in the description. Validation does not change. */
export function named<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, [SCHEMA_NAME]: name }
}

/** Words of an answer that later versions may extend (spec: Versioning 3): a client must accept a word that it does not know. */
export function openList<const Word extends string>(
  words: readonly Word[],
  options: SchemaOptions,
): TUnsafe<Word | (string & {})> {
  return Type.Unsafe({ anyOf: [{ type: 'string', enum: [...words] }, { type: 'string' }], ...options })
}

/** The word that marks content of the specification itself, beside ids of rows of the fidelity manifest. */
export const SPECIFICATION = 'specification'

/** Source of a part of the description. */
export interface Source {
  'x-source'?: typeof SPECIFICATION
  'x-assumption'?: string
}

/** Builds the marks of {@link Source}; `origins` are {@link SPECIFICATION} and ids of rows of the fidelity manifest. */
export function from(...origins: readonly string[]): Source {
  const rows = [...new Set(origins.filter((origin) => origin !== SPECIFICATION))]
  return {
    ...(origins.includes(SPECIFICATION) && { 'x-source': SPECIFICATION }),
    ...(rows.length > 0 && { 'x-assumption': rows.join(', ') }),
  }
}
