import { describe, expect, it } from 'vitest'
import type { TransferFacts } from '../../src/domain/ports/chain.ts'
import { amountsOf, decideDeposit, decideWithdrawal, type WithdrawalTerms } from '../../src/domain/transfer-rules.ts'

const facts = (rest: Partial<TransferFacts>): TransferFacts =>
  ({ wallet_balance: 0n, position_value: 0n, worthless: false, ...rest }) as TransferFacts

const USDC = { token_symbol: 'USDC', token_decimals: 6 }
const inWords = amountsOf(USDC, { error_amounts: 'minor_units' })

const refusal = (code: string, detail: RegExp) =>
  expect.objectContaining({
    code,
    details: expect.objectContaining({ param: 'amount_minor', detail: expect.stringMatching(detail) }),
  })

describe('a deposit', () => {
  it('moves up to all that the wallet holds', () => {
    expect(decideDeposit(7n, facts({ wallet_balance: 8n }), inWords)).toEqual({ amount: 7n, all: false })
    expect(decideDeposit(8n, facts({ wallet_balance: 8n }), inWords)).toEqual({ amount: 8n, all: false })
    expect(() => decideDeposit(9n, facts({ wallet_balance: 8n }), inWords)).toThrow(
      refusal('insufficient_balance', /wallet holds 8 minor units/),
    )
  })

  it('is refused when the market gives nothing for it', () => {
    expect(() => decideDeposit(1n, facts({ wallet_balance: 8n, worthless: true }), inWords)).toThrow(
      refusal('amount_too_small', /nothing of worth for 1 /),
    )
  })
})

describe('a withdrawal', () => {
  const usual: WithdrawalTerms = { shown: undefined, full_withdrawal: 'as_shown', inWords }
  const decide = (amount: bigint, worth: bigint, terms: Partial<WithdrawalTerms> = {}) =>
    decideWithdrawal(amount, facts({ position_value: worth }), { ...usual, ...terms })

  it.each([
    ['what the position is worth', 100n, true],
    ['a unit less', 99n, true],
    ['a unit more', 101n, true],
    ['two units less', 98n, false],
  ])('of %s', (_what, amount, all) => {
    expect(decide(amount, 100n)).toEqual({ amount: all ? 100n : amount, all })
  })

  it('is refused from two units more than the position is worth', () => {
    expect(() => decide(102n, 100n)).toThrow(refusal('insufficient_balance', /position holds 100 minor units/))
  })

  it('of the amount last shown takes everything, whatever it is worth by now', () => {
    expect(decide(90n, 100n, { shown: 90n })).toEqual({ amount: 100n, all: true })
    expect(decide(110n, 100n, { shown: 110n })).toEqual({ amount: 100n, all: true })
    expect(decide(91n, 100n, { shown: 90n })).toEqual({ amount: 91n, all: false })
  })

  it('takes everything only for its exact worth when that is set', () => {
    const exact = { full_withdrawal: 'exact' } as const
    expect(decide(100n, 100n, exact)).toEqual({ amount: 100n, all: true })
    expect(decide(99n, 100n, { ...exact, shown: 99n })).toEqual({ amount: 99n, all: false })
    expect(() => decide(101n, 100n, { ...exact, shown: 101n })).toThrow(
      refusal('insufficient_balance', /position holds 100/),
    )
  })

  it('of a unit from an empty position is refused', () => {
    expect(() => decide(1n, 0n, { shown: 1n })).toThrow(refusal('insufficient_balance', /position holds 0/))
  })
})

it('says amounts in whole tokens when that is set', () => {
  const inTokens = amountsOf(USDC, { error_amounts: 'whole_tokens' })
  const said = [0n, 8n, 500_000n, 12_000_000n].map(inTokens)
  expect(said).toEqual(['0 USDC', '0.000008 USDC', '0.5 USDC', '12 USDC'])
  expect(() => decideDeposit(9n, facts({ wallet_balance: 8n }), inTokens)).toThrow(
    refusal('insufficient_balance', /wallet holds 0\.000008 USDC,/),
  )
})
