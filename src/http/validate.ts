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

/** Given any compilers, Fastify does not load Ajv, which takes a fifth of a start and has its own words for what is wrong. */
export const withoutAjv = {
  schemaController: { compilersFactory: { buildValidator: never, buildSerializer: never } },
} satisfies FastifyServerOptions

/**
 * Holds requests against their schemas by TypeBox; nothing of a request is changed. A schema is compiled when its first request
 * comes: most routes are never asked for.
 */
export function compileSchema({ schema }: { schema: TSchema }): (value: unknown) => true | { error: Problem } {
  let compiled: TypeCheck<TSchema> | undefined
  return (value) => {
    compiled ??= TypeCompiler.Compile(schema)
    if (compiled.Check(value)) return true
    const issues = schemaIssues(schema, value, { inWords })
    // JSON Schema counts characters where TypeBox counts UTF-16 units: such a text is not too long.
    return issues.length === 0 || { error: invalidParameters(issues.map(parameterFault)) }
  }
}

/** The schema with the words for the form that it demands, or for what else the value is not. */
function inWords(schema: TSchema, reason: ValueErrorType): TSchema {
  if (reason === ValueErrorType.Kind && schema[AMOUNT_TO_MOVE]) return { ...schema, title: schema[AMOUNT_TO_MOVE] }
  const { pattern, ...rest } = schema
  // Of the right form, but too long or too short.
  if (reason === ValueErrorType.StringMinLength || reason === ValueErrorType.StringMaxLength) return rest as TSchema
  const title = wordsFor(pattern)
  return title === undefined ? schema : { ...schema, title }
}
