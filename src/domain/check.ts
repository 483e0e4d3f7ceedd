/** Where a request can be refused, in the order of its way. */
export const CHECKS = [
  'head',
  'route',
  'ready',
  'fault',
  'client_credentials',
  'idp_token',
  'role',
  'user_token',
  'subject',
  'idempotency_key',
  'body',
  'parameters',
  'operation',
] as const

/** One of {@link CHECKS}. */
export type Check = (typeof CHECKS)[number]
