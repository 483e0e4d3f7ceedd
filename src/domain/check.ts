/** Checks that can refuse a request, in the order in which it passes them. */
export const CHECKS = [
  'head',
  'route',
  'ready',
  'quota',
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
