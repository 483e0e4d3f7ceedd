import { type SchemaOptions, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { getAddress } from 'viem/utils'
import { from, named, SPECIFICATION } from '../domain/described-schema.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../domain/pagination.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { ADDRESS_FORM, DIGITS_FORM, EXTERNAL_ID_FORM, externalIdForm } from '../domain/text-form.ts'
import { oneWordOf, textKind } from '../support/text-kind.ts'

/**
 * @returns true if a string is an Ethereum address: `0x` and 40 hexadecimal digits in one case, or in mixed case with a right EIP-55
 * checksum
 */
function isEthereumAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false
  const digits = text.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true
  return getAddress(text) === text
}

/** Schema keyword that marks digits as an amount to move. Its text continues "must be". */
export const AMOUNT_TO_MOVE = 'x-amount-to-move'

const UINT256_MAX = 2n ** 256n - 1n
/** Most digits that are parsed: few enough to be cheap, and more than 2^256 − 1 has. */
const MAX_DIGITS = 100

/** Assumption `transfer-errors`: zero, and more than any token can hold, are refused. Text that is not digits is left to the pattern. */
function isAmountToMove(digits: string): boolean {
  if (digits.length > MAX_DIGITS || !/^[0-9]+$/.test(digits)) return true
  const amount = BigInt(digits)
  return amount > 0n && amount <= UINT256_MAX
}

const amountToMove = textKind('AmountToMove', isAmountToMove)
const address = textKind('Address', isEthereumAddress)

/** An amount to deposit or withdraw, in the token's minor units. */
export const AmountToMove = (description: string) =>
  amountToMove({
    pattern: DIGITS_FORM.pattern,
    maxLength: MAX_DIGITS,
    [AMOUNT_TO_MOVE]: 'above zero and at most 2^256 − 1',
    description,
    examples: ['2500000000'],
    ...from(SPECIFICATION, 'amount-digits'),
  })

/** spec: Resources, "Ethereum address". */
export const Address = (description: string, example = EXAMPLE_TOKEN) =>
  address({
    pattern: ADDRESS_FORM.pattern,
    'x-checksum': 'EIP-55',
    description,
    examples: [example],
    ...from(SPECIFICATION, 'address-checksum'),
  })

/** spec: Resources, "Numeric string". */
export const ChainId = Type.String({
  pattern: DIGITS_FORM.pattern,
  maxLength: 78,
  description: 'Numeric chain id as a string.',
  examples: ['31337'],
  ...from(SPECIFICATION, 'chain-id-digits'),
})

/** A digit string in the token's minor units. Assumption `amount-unit`. */
export const Amount = (description: string) =>
  Type.String({ pattern: DIGITS_FORM.pattern, description, examples: ['2500000000'], 'x-assumption': 'amount-unit' })

/** An {@link Amount} that may be negative. */
export const Difference = (description: string) =>
  Type.String({ pattern: '^-?[0-9]+$', description, examples: ['1250000'], 'x-assumption': 'amount-unit' })

/** spec: Resources, "ISO 8601 UTC timestamp with milliseconds". */
export const Timestamp = (description: string) =>
  Type.String({
    format: 'date-time',
    description,
    examples: ['2026-01-02T03:04:05.678Z'],
    ...from(SPECIFICATION),
  })

/** The partner's name for an end user. Assumption `create-end-user` sets its alphabet. */
export const ExternalId = (settings: ServiceSettings) => {
  const { pattern, words } = externalIdForm(settings)
  return Type.String({
    pattern,
    minLength: 1,
    maxLength: 128,
    ...(pattern !== EXTERNAL_ID_FORM.pattern && { title: words }),
    description: `The partner's stable identifier of the end user: ${words}`,
    examples: ['alice'],
    'x-assumption': 'create-end-user',
  })
}

/** An optional field of a request; null counts as left out. */
export const Omissible = <T extends TSchema>(schema: T, options: SchemaOptions) =>
  Type.Optional(Type.Union([schema, Type.Null()], options))

/** Path parameters of every user-scoped endpoint. An impossible external_id is not found (spec: endpoint 3, rule 4), not invalid. */
export const ExternalIdParams = Type.Object({
  external_id: Type.String({
    description: "The partner's stable identifier of the end user; 404 end_user_not_found for one that is nobody's.",
    examples: ['alice'],
    'x-assumption': 'create-end-user',
  }),
})

/** spec: endpoint 1, query parameters; Limits */
export const PageQuerystring = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: 'Page size.',
      ...from(SPECIFICATION, 'limit-invalid'),
    }),
  ),
  starting_after: Type.Optional(
    Type.String({ description: 'Cursor for forward paging: next_cursor of the previous page.' }),
  ),
  ending_before: Type.Optional(
    Type.String({ description: 'Cursor for backward paging: prev_cursor. Not together with starting_after.' }),
  ),
})

/** spec: Paginated envelope. `name` is the page's name in the description. */
export const Envelope = <T extends TSchema>(name: string, item: T, what: string): TObject =>
  named(
    name,
    Type.Object({
      data: Type.Array(item, { description: `The ${what} on this page.` }),
      has_more: Type.Boolean({
        description: 'True when more items exist beyond this page.',
        ...from(SPECIFICATION, 'has-more'),
      }),
      next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' }),
      prev_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Null on the first page.' }),
    }),
  )

/** One of the service's two protocols. spec: Protocol values. A closed list: exactly two, in requests and in answers. */
export const Protocol = ({ protocols }: Pick<ServiceSettings, 'protocols'>) =>
  named(
    'Protocol',
    oneWordOf(protocols, {
      description: 'Lending protocol: the first is the default.',
      ...from(SPECIFICATION, 'protocol-names'),
    }),
  )

/** spec: "the on-chain transaction hash". */
export const TransactionHash = Type.String({
  pattern: '^0x[0-9a-f]{64}$',
  description: 'The on-chain transaction hash.',
  ...from(SPECIFICATION),
})

type Protocols = Pick<ServiceSettings, 'protocols'>

/** USDC of the embedded chain. */
const EXAMPLE_TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
/** The Aave pool of the embedded chain. */
export const EXAMPLE_MARKET = '0xd8058efe0198ae9dD7D563e1b4938Dcbc86A1F81'
/** Wallet of an end user, in the form that the sandbox derives. */
export const EXAMPLE_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The first pool of the shipped fixture, with addresses of the embedded chain. */
export const examplePool = ({ protocols: [protocol] }: Protocols) => ({
  protocol,
  chain_id: '31337',
  token_address: EXAMPLE_TOKEN,
  market_address: EXAMPLE_MARKET,
})

/** The flat shape of a new portfolio in that pool. */
export function examplePortfolio(settings: Protocols) {
  const { protocol, chain_id, token_address, market_address } = examplePool(settings)
  return {
    portfolio_id: 'jar_01JGX0Z5N8Q4R7T2V9W3Y6B1CD',
    name: 'Rainy day',
    description: null,
    protocol,
    chain_id,
    token_address,
    token_symbol: 'USDC',
    token_decimals: 6,
    market_address,
    deposited: '0',
    yield_earned: '0',
    yield_earned_realized: '0',
    total_balance: '0',
    compounding_enabled: true,
    created_at: '2026-01-02T03:04:05.678Z',
    updated_at: '2026-01-02T03:04:05.678Z',
  }
}
