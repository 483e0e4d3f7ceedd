import { Problem } from './errors.ts'
import type { TransferDecision, TransferFacts } from './ports/chain.ts'
import type { Pool } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'

/** Largest amount in minor units: the lending protocols keep balances in 128 bits. */
export const LARGEST_AMOUNT = 2n ** 127n

/** Minor units of an amount in whole tokens (`2500`, `0.5`); undefined when it has more decimals than the token. */
export function parseTokens(amount: string, decimals: number): bigint | undefined {
  const [whole = '', fraction = ''] = amount.split('.')
  return fraction.length > decimals ? undefined : BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** Formats an amount of minor units in whole tokens, without trailing zeros: the inverse of {@link parseTokens}. */
export function formatTokens(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction ? `${whole}.${fraction}` : whole
}

/** Formats an amount of minor units for the details of errors: `"500000 minor units"`, or `"0.5 USDC"`. */
export type AmountInWords = (amount: bigint) => string

/** Returns the formatter of a token's amounts. Behaviour `whole-tokens`. */
export function amountsOf(
  { token_decimals, token_symbol }: Pick<Pool, 'token_decimals' | 'token_symbol'>,
  { error_amounts }: Pick<ServiceSettings, 'error_amounts'>,
): AmountInWords {
  if (error_amounts === 'minor_units') return (amount) => `${amount} minor units`
  return (amount) => `${formatTokens(amount, token_decimals)} ${token_symbol}`
}

/**
 * Decides a deposit: it moves the amount requested, if the wallet holds it and the market gives something for it. Throws Problem
 * insufficient_balance or amount_too_small.
 */
export function decideDeposit(
  amount: bigint,
  { wallet_balance, worthless }: TransferFacts,
  inWords: AmountInWords,
): TransferDecision {
  if (amount > wallet_balance) throw insufficient('wallet', inWords(wallet_balance))
  if (worthless) throw tooSmall(inWords(amount))
  return { amount, all: false }
}

/** Terms of a withdrawal beside its amount and the facts of the chain. */
export interface WithdrawalTerms {
  /** The `total_balance` last shown, in minor units; undefined if a transfer has made it outdated. */
  shown: bigint | undefined
  full_withdrawal: ServiceSettings['full_withdrawal']
  inWords: AmountInWords
}

/**
 * Decides a withdrawal: it moves the amount requested, if the position is worth it. The amount last shown takes everything and leaves
 * no dust, whatever the present worth; so does an amount within one minor unit of the present worth, since rounding on chain may be
 * off by so much. Assumption `withdraw-all`. Throws Problem insufficient_balance.
 */
export function decideWithdrawal(
  amount: bigint,
  { position_value: worth }: TransferFacts,
  { shown, full_withdrawal, inWords }: WithdrawalTerms,
): TransferDecision {
  const exact = full_withdrawal === 'exact'
  const tolerance = exact ? 0n : 1n
  const isWhole = amount >= worth - tolerance && amount <= worth + tolerance
  if (worth > 0n && (isWhole || (!exact && amount === shown))) return { amount: worth, all: true }
  if (amount > worth) throw insufficient('position', inWords(worth))
  return { amount, all: false }
}

function insufficient(what: 'wallet' | 'position', available: string): Problem {
  return new Problem('insufficient_balance', {
    detail: `The ${what} holds ${available}, less than amount_minor asks for.`,
    param: 'amount_minor',
  })
}

function tooSmall(amount: string): Problem {
  return new Problem('amount_too_small', {
    detail: `The market gives nothing of worth for ${amount}: they could not be withdrawn again.`,
    param: 'amount_minor',
  })
}
