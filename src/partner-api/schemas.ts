import { type SchemaOptions, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { from, named, SPECIFICATION } from '../domain/described-schema.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../domain/pagination.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { ADDRESS_FORM, DIGITS_FORM, EXTERNAL_ID_FORM, externalIdForm } from '../domain/text-form.ts'
import { oneWordOf, textKind } from '../support/text-kind.ts'
import { isEthereumAddress } from './ethereum-address.ts'
import { EXAMPLE_TOKEN } from './examples.ts'

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
