import { Kind, type SchemaOptions, type TUnsafe, Type, TypeRegistry } from '@sinclair/typebox'
import { Check } from '@sinclair/typebox/value'

/** Any schema; only its kind matters here. */
type AnySchema = Record<PropertyKey, unknown>

/** The schema without the check of its kind: its length and its pattern remain. */
export const asPlainText = <T extends object>(schema: T) => ({ ...schema, [Kind]: 'String' })

/**
 * Registers a kind of TypeBox schema (its `TypeRegistry`): a text that meets the keywords of a string and `fits`. In JSON Schema it is
 * a string with the other options.
 */
export function textKind(
  name: string,
  fits: (text: string, schema: AnySchema) => boolean,
): <Text extends string = string>(options: SchemaOptions) => TUnsafe<Text> {
  TypeRegistry.Set<AnySchema>(
    name,
    (schema, value) =>
      typeof value === 'string' && Check(Type.Unsafe(asPlainText(schema)), value) && fits(value, schema),
  )
  return (options) => Type.Unsafe({ ...options, [Kind]: name, type: 'string' })
}

const word = textKind('Word', (text, { enum: words }) => (words as readonly string[]).includes(text))

/** A text that is one of these words: JSON Schema's `enum`. */
export const oneWordOf = <const Word extends string>(words: readonly Word[], options: SchemaOptions): TUnsafe<Word> =>
  word<Word>({ ...options, enum: [...words] })
