/** What the specification leaves open and the fixture file's `service` section can switch. Names follow the fixture. */
export interface ServiceSettings {
  /** Brand in the two response headers: `X-<name>-Api-Version`. */
  name: string
  /** The two protocol identifiers: Aave V3 (the default), ERC-4626 vault. */
  protocols: readonly [string, string]
  /** `<service_audience>`: `aud` of both tokens. */
  audience: string
  error_body: 'problem' | 'code_only'
  end_user_jwt: 'optional' | 'required'
  transfer_status: 200 | 201
  idempotency_in_flight: 'join' | 'conflict'
  /** Milliseconds of the sandbox clock. */
  idempotency_ttl: number
  /** Whether a withdrawal of the `total_balance` last shown takes everything, or only one of the present worth does. */
  full_withdrawal: 'as_shown' | 'exact'
  /** Seconds. */
  idp_token_lifetime: number
  /** Seconds that `iat` and `nbf` of a user token may be ahead. */
  user_token_leeway: number
}

/** The defaults of the assumptions. */
export const DEFAULT_SETTINGS: ServiceSettings = {
  name: 'Service',
  protocols: ['aave', 'morpho'],
  audience: 'api://yield-sandbox',
  error_body: 'problem',
  end_user_jwt: 'optional',
  transfer_status: 200,
  idempotency_in_flight: 'join',
  idempotency_ttl: 24 * 60 * 60 * 1000,
  full_withdrawal: 'as_shown',
  idp_token_lifetime: 3600,
  user_token_leeway: 60,
}
