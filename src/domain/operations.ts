/** The eight operations that a fault, a role or a report can name: the seven endpoints and the token endpoint. */
export const OPERATIONS = [
  'list_pools',
  'create_end_user',
  'create_portfolio',
  'list_portfolios',
  'deposit',
  'withdraw',
  'list_transactions',
  'token',
] as const

/** One of {@link OPERATIONS}. */
export type Operation = (typeof OPERATIONS)[number]
