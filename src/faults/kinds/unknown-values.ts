import { Type } from '@sinclair/typebox'
import type { Answer } from '../../domain/exchange.ts'
import type { Operation } from '../../domain/operations.ts'
import { isObject, parseBody, withCode } from '../answer-body.ts'
import { defineKind } from '../fault-kind.ts'
import { Choice, SERVICE, withDefault } from '../parameters.ts'

type Body = Record<string, unknown>

/** Values that can be replaced by unknown ones. */
const VALUES = {
  transaction_type: {
    operations: ['list_transactions'],
    explanation: 'the newest transaction of the page is of the type fee_deduction.',
    replace: (body) => withFirst(body, 'type', 'fee_deduction'),
  },
  protocol: {
    operations: ['list_pools', 'create_portfolio', 'list_portfolios', 'deposit', 'withdraw'],
    explanation: 'the pool or portfolio, of a list the first, is on the protocol another_protocol.',
    replace: (body) =>
      withMember(body, 'protocol', 'another_protocol') ?? withFirst(body, 'protocol', 'another_protocol'),
  },
  error_code: {
    operations: SERVICE,
    explanation: "an error's code is a subclass of what it would be, such as insufficient_balance_unspecified.",
    replace: (body) => (typeof body.code === 'string' ? withCode(body, `${body.code}_unspecified`) : undefined),
  },
} as const satisfies Record<string, Value>

interface Value {
  /** Operations that answer with it. */
  operations: readonly Operation[]
  explanation: string
  /** Returns the body with the unknown value; undefined when the body has no such value. */
  replace(body: Body): Body | undefined
}

const WHAT = ['transaction_type', 'protocol', 'error_code'] as const

/** The answer has a value of a later version, where the values are an open list (spec: Versioning 3). */
export const unknownValues = defineKind({
  kind: 'unknown_values',
  scope: 'exchange',
  group: 'answer',
  phases: ['during_response'],
  operations: ({ what }) => VALUES[what].operations,
  with: Type.Object(
    { what: withDefault('transaction_type', Choice(WHAT, { description: 'Which value is one that nobody knows.' })) },
    { additionalProperties: false },
  ),
  // Before there is an answer, it is unknown if the answer will have such a value.
  applies: ({ answer }, { what }) => answer === undefined || changed(answer, what) !== undefined,
  explain: ({ what }, when) => `A value is replaced ${when}: ${VALUES[what].explanation}`,
  strike({ exchange: { answer }, with: { what } }) {
    if (answer) answer.body = changed(answer, what) ?? answer.body
  },
})

function changed(answer: Answer, what: (typeof WHAT)[number]): string | undefined {
  const body = parseBody(answer.body)
  const replaced = isObject(body) ? VALUES[what].replace(body) : undefined
  return replaced && JSON.stringify(replaced)
}

function withMember(body: Body, name: string, value: string): Body | undefined {
  return name in body ? { ...body, [name]: value } : undefined
}

/** Returns the body of a list with another value in its first item; undefined when that item has no such member. */
function withFirst(body: Body, name: string, value: string): Body | undefined {
  const [first, ...others]: unknown[] = Array.isArray(body.data) ? body.data : []
  const replaced = isObject(first) ? withMember(first, name, value) : undefined
  return replaced && { ...body, data: [replaced, ...others] }
}
