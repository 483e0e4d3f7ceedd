import { type TSchema, Type } from '@sinclair/typebox'
import { from, named } from '../domain/described-schema.ts'
import { oneWordOf } from '../support/text-kind.ts'

type SchemaOf<T> = TSchema & { static: T }

/** A schema of the control interface. Its type must be that of the contract. */
export const control = <T>(name: string, schema: SchemaOf<T>): SchemaOf<T> =>
  named(name, { ...schema, ...from('sandbox-routes') })

/** A text. */
export const Text = (description: string) => Type.String({ description })
/** ISO 8601 UTC with milliseconds. */
export const Moment = (description: string) => Type.String({ format: 'date-time', description })
/** A number of things. */
export const Count = (description: string) => Type.Integer({ minimum: 0, description })
/** The schema, or null. */
export const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })
/** One of these words. */
export const oneOf = <const Word extends string>(words: readonly Word[], description: string) =>
  oneWordOf(words, { description })
/** A value of any kind. */
export const anything = (description: string) => Type.Unknown({ description })
