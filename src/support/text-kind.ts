import { Kind, type SchemaOptions, type TUnsafe, Type, TypeRegistry } from '@sinclair/typebox'
import { Check } from '@sinclair/typebox/value'

/** Any schema; what it says beside its kind is of no concern here. */
type AnySchema = Record<PropertyKey, unknown>

/** The schema without what only its kind demands: its length and its pattern remain. */
export const asPlainText = <T extends object>(schema: T) => ({ ...schema, [Kind]: 'String' })

/**
 * A kind of TypeBox schema (its `TypeRegistry`): a text with the keywords of a string, that `fits` as well. In JSON Schema it is a
 * string, and whatever else the options say.
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

/** One of these words: JSON Schema's `enum`. */
export const oneWordOf = <const Word extends string>(words: readonly Word[], options: SchemaOptions): TUnsafe<Word> =>
  word<Word>({ ...options, enum: [...words] })
