import { type Static, Type } from '@sinclair/typebox'
import type { LedgerTransfer } from '../oracle/facts.ts'
import type { ClientOperation } from '../oracle/operation.ts'

/** The form of books that this version reads. */
export const BOOKS_FORM = 1

/** States of a transfer in the books. `open`: the app does not know yet, and will ask again. */
export const BOOKS_STATES = ['done', 'failed', 'open'] as const

const exact = { additionalProperties: false }
const worded = (title: string, example: string) =>
  Type.String({ title, minLength: 1, maxLength: 1000, examples: [example] })
const oneOf = <const W extends readonly string[]>(words: W) =>
  Type.Unsafe<W[number]>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { title: `one of ${words.join(', ')}`, examples: [words[0]] },
    ),
  )
const minor = (pattern: string) =>
  Type.String({ title: 'minor units in a string of digits', pattern, examples: ['250000000'] })

const place = {
  /** Slug; needed only for a name that end users of two tenants have. */
  tenant: Type.Optional(worded('the slug of a tenant', 'acme')),
  external_id: worded('the external_id of an end user', 'alice'),
  pool_id: Type.Optional(worded('the id of a pool', 'aave-usdc')),
  /** May stand for `pool_id`; an end user with two portfolios in one pool needs it, or their money is added up. */
  portfolio_id: Type.Optional(worded('the id of a portfolio', 'portfolio_01JA')),
}

const BooksTransferSchema = Type.Object(
  {
    ...place,
    type: oneOf(['deposit', 'withdraw']),
    /** As asked for: a withdrawal of everything may carry out another amount. */
    amount_minor: minor('^[0-9]{1,78}$'),
    state: oneOf(BOOKS_STATES),
    idempotency_key: Type.Optional(worded('the Idempotency-Key of the order', '7f0c1a52-5f2e-4c7e-9f61-0d9c6d1b7a11')),
    tx_hash: Type.Optional(worded('the hash of its transaction', '0x5b1c')),
  },
  { ...exact, title: 'an object' },
)

const BooksBalanceSchema = Type.Object(
  { ...place, principal_minor: minor('^-?[0-9]{1,78}$') },
  { ...exact, title: 'an object' },
)

/** Shape of what a books command prints. */
export const BooksSchema = Type.Object(
  {
    form: Type.Literal(BOOKS_FORM, { title: String(BOOKS_FORM), examples: [BOOKS_FORM] }),
    transfers: Type.Optional(Type.Array(BooksTransferSchema, { title: 'a list of transfers', examples: [[]] })),
    balances: Type.Optional(Type.Array(BooksBalanceSchema, { title: 'a list of balances', examples: [[]] })),
  },
  { ...exact, title: 'an object' },
)

/** What an app believes of its money: a row for each order, or a balance for each end user and pool, or both. */
export type Books = Static<typeof BooksSchema>

/** One order of an app. */
export type BooksTransfer = Static<typeof BooksTransferSchema>

/** Deposits less withdrawals that an app takes for done, of one end user in one pool or portfolio. */
export type BooksBalance = Static<typeof BooksBalanceSchema>

/** Where the books say that money is. */
export type BooksPlace = Pick<BooksTransfer, keyof typeof place>

/** A mistake of the books, or a transfer that they have not caught up with. */
export interface BooksFinding {
  verdict: 'wrong' | 'lag'
  /** One sentence. */
  sentence: string
  /** The operation that it is about, or one that was never sent; for a balance, those of its place. */
  operations: readonly ClientOperation[]
  /** Money that was moved and that the books do not have. */
  missing?: Pick<LedgerTransfer, 'tenant' | 'external_id' | 'portfolio_id' | 'amount_minor'> | undefined
}

/** Outcome of a comparison; `unusable`: nothing could be compared. */
export const BOOKS_VERDICTS = ['right', 'lag', 'wrong', 'unusable'] as const

/** What the books came to, as reports show it. */
export interface BooksSaid {
  verdict: (typeof BOOKS_VERDICTS)[number]
  /** "Your books are right: 3 transfers (2 done, 1 open)." */
  sentence: string
  /** Number of transfers in the books by their state, and of balances. */
  done: number
  failed: number
  open: number
  balances: number
}

/** Books that cannot be used. The message is one sentence that names `--books`, and the fix. */
export class BooksError extends Error {
  override readonly name = 'BooksError'

  /** `exitCode`: 2 if what was given is wrong by its form, 4 if there is nothing to judge. */
  constructor(
    message: string,
    readonly exitCode: 2 | 4 = 2,
  ) {
    super(`--books ${message}`)
  }
}
