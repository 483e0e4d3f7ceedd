import { type TSchema, Type } from '@sinclair/typebox'

/*
 * Every `title` completes the sentence "must be …" of an error message, and the message proposes the first of `examples`. Editors show
 * `description`.
 */

/** Refuses unknown keys. */
export const strict = { additionalProperties: false }

/** A text that matches a pattern. */
export function text(title: string, pattern: string, example: string, description: string) {
  return Type.String({ title, pattern, examples: [example], description })
}

/** A whole number in a range. */
export function count(title: string, minimum: number, maximum: number, example: number, description: string) {
  return Type.Integer({
    title: `${title} from ${minimum} to ${maximum}`,
    minimum,
    maximum,
    examples: [example],
    description,
  })
}

/** One of several constants. */
export function oneOf<const T extends readonly (string | number)[]>(choice: T, description: string) {
  return Type.Unsafe<T[number]>(
    Type.Union(
      choice.map((value) => Type.Literal(value)),
      { title: `one of ${choice.join(', ')}`, examples: [choice[0]], description },
    ),
  )
}

/** A mapping of exactly these fields. */
export function object<T extends Record<string, TSchema>>(
  title: string,
  description: string,
  properties: T,
  example?: object,
) {
  return Type.Object(properties, { ...strict, title, description, ...(example && { examples: [example] }) })
}
