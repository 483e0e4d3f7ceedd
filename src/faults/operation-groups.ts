import { OPERATIONS, type Operation } from '../domain/operations.ts'

/** Operations that move money: the only ones with phases between `on_request` and `during_response`. */
export const TRANSFERS: readonly Operation[] = ['deposit', 'withdraw']

/** Operations that answer a page of a list. */
export const LISTS: readonly Operation[] = ['list_pools', 'list_portfolios', 'list_transactions']

/** Operations of the service itself. */
export const SERVICE: readonly Operation[] = OPERATIONS.filter((operation) => operation !== 'token')

/** Operations of one end user: an external_id in the path, and a user token that vouches for it. */
export const OF_END_USER: readonly Operation[] = [
  'create_portfolio',
  'list_portfolios',
  'deposit',
  'withdraw',
  'list_transactions',
]
