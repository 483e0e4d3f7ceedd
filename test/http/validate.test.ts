import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import type { Problem } from '../../src/domain/errors.ts'
import { compileSchema } from '../../src/http/validate.ts'
import { Address, AmountToMove } from '../../src/partner-api/schemas.ts'
import { oneWordOf } from '../../src/support/text-kind.ts'

/** Whether the value fits, or what the refusal says of it. */
function said(
  schema: Parameters<typeof compileSchema>[0]['schema'],
  value: unknown,
): true | Problem['details']['errors'] {
  const result = compileSchema({ schema })(value)
  return result === true || result.error.details.errors
}

describe('a request is held against its schema', () => {
  test('in characters, as JSON Schema counts them', () => {
    const schema = Type.Object({ name: Type.String({ minLength: 1, maxLength: 2 }) })
    expect(said(schema, { name: '😀😀' })).toBe(true)
    expect(said(schema, { name: '😀😀😀' })).toMatchObject([
      { param: 'name', detail: expect.stringMatching(/1 to 2 characters/) },
    ])
  })

  test('with an amount to move: its form, its length, then its value', () => {
    const schema = Type.Object({ amount_minor: AmountToMove('') })
    const detail = (value: unknown) => said(schema, { amount_minor: value })
    expect(detail('1')).toBe(true)
    expect(detail(String(2n ** 256n - 1n))).toBe(true)
    expect(detail('1.5')).toMatchObject([{ detail: expect.stringMatching(/must be a string of digits/) }])
    expect(detail(5)).toMatchObject([{ detail: expect.stringMatching(/must be a string of digits.*"5"/) }])
    expect(detail('1'.repeat(101))).toMatchObject([{ detail: expect.stringMatching(/of at most 100 characters/) }])
    for (const value of ['0', '000', String(2n ** 256n)]) {
      expect(detail(value)).toMatchObject([
        { detail: expect.stringMatching(/must be above zero and at most 2\^256 − 1/) },
      ])
    }
  })

  test('with an address: lower case, or with the checksum that it is written with', () => {
    const address = '0x52908400098527886E0F7030069857D2E4169EE7'
    expect(said(Address(''), address)).toBe(true)
    expect(said(Address(''), address.toLowerCase())).toBe(true)
    expect(said(Address(''), address.replace('E4', 'e4'))).toMatchObject([
      { param: 'body', detail: expect.stringMatching(/EIP-55/) },
    ])
  })

  test('with a list of words, of which the nearest is proposed', () => {
    const schema = Type.Object({
      protocol: Type.Optional(Type.Union([oneWordOf(['aave', 'morpho'], {}), Type.Null()])),
    })
    for (const protocol of ['aave', 'morpho', null]) expect(said(schema, { protocol })).toBe(true)
    expect(said(schema, {})).toBe(true)
    expect(said(schema, { protocol: 'morpo' })).toMatchObject([
      { param: 'protocol', detail: expect.stringMatching(/did you mean "morpho"\?/) },
    ])
    expect(said(schema, { protocol: 7 })).toMatchObject([{ param: 'protocol' }])
  })

  test('and everything that is wrong is listed, each parameter once', () => {
    const schema = Type.Object({ amount_minor: AmountToMove(''), portfolio_id: Type.String(), limit: Type.Integer() })
    const errors = said(schema, { amount_minor: true, limit: 0.5 })
    expect(errors).toMatchObject([{ param: 'portfolio_id' }, { param: 'amount_minor' }, { param: 'limit' }])
  })
})
