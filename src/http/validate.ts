import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { ValueErrorType } from '@sinclair/typebox/errors'
import type { FastifyServerOptions } from 'fastify'
import { invalidParameters, type Problem, parameterFault } from '../domain/errors.ts'
import { wordsFor } from '../domain/text-form.ts'
import { AMOUNT_TO_MOVE } from '../partner-api/schemas.ts'
import { schemaIssues } from '../support/schema-issues.ts'

const never = (): never => {
  throw new Error('every route is compiled by compileSchema')
}

/** With any compilers given, Fastify does not load Ajv, which takes a fifth of a start and has its own wording of errors. */
export const withoutAjv = {
  schemaController: { compilersFactory: { buildValidator: never, buildSerializer: never } },
} satisfies FastifyServerOptions

/**
 * Validates requests against their schemas by TypeBox, without changing them. A schema is compiled at its first request, since most
 * routes never get one.
 */
export function compileSchema({ schema }: { schema: TSchema }): (value: unknown) => true | { error: Problem } {
  let compiled: TypeCheck<TSchema> | undefined
  return (value) => {
    compiled ??= TypeCompiler.Compile(schema)
    if (compiled.Check(value)) return true
    const issues = schemaIssues(schema, value, { inWords })
    // JSON Schema counts characters where TypeBox counts UTF-16 units, so the text is not too long after all.
    return issues.length === 0 || { error: invalidParameters(issues.map(parameterFault)) }
  }
}

/** The schema with the words for the form that it demands, or for its other requirement that the value misses. */
function inWords(schema: TSchema, reason: ValueErrorType): TSchema {
  if (reason === ValueErrorType.Kind && schema[AMOUNT_TO_MOVE]) return { ...schema, title: schema[AMOUNT_TO_MOVE] }
  const { pattern, ...rest } = schema
  // The form is right, but the text is too long or too short.
  if (reason === ValueErrorType.StringMinLength || reason === ValueErrorType.StringMaxLength) return rest as TSchema
  const title = wordsFor(pattern)
  return title === undefined ? schema : { ...schema, title }
}
