import { EXTERNAL_ID_FORM } from './text-form.ts'

/** Choices that the specification leaves open and the `service` section of the fixture file can set. Names follow the fixture. */
export interface ServiceSettings {
  /** Brand in the two response headers: `X-<name>-Api-Version`. */
  name: string
  /** The two protocol identifiers: Aave V3 (the default), ERC-4626 vault. */
  protocols: readonly [string, string]
  /** `<service_audience>`: `aud` of both tokens. */
  audience: string
  error_body: 'problem' | 'code_only'
  /** Path in front of `/v1/`, and the end of `{base_url}`: `/api`, or empty. Paths beside the service do not change. */
  base_path: string
  /** Base URL of error documentation: `type` and `doc_url` of an error body are this, a slash and the code. `none`: `type` is a URN. */
  error_docs: string
  /** Unit of amounts in the details of errors. */
  error_amounts: 'minor_units' | 'whole_tokens'
  end_user_jwt: 'optional' | 'required'
  end_user_idempotency_key: 'accepted' | 'required'
  /** Regular expression for the `external_id` of new end users. */
  external_ids: string
  transfer_status: 200 | 201
  /** `recorded`: the yield earned up to a transfer is recorded before it, as a transaction of its own. */
  yield_harvest: 'none' | 'recorded'
  /** Format of an Idempotency-Key. */
  idempotency_key_format: 'uuid_v4' | 'opaque'
  idempotency_in_flight: 'join' | 'conflict'
  /** Milliseconds of the sandbox clock. */
  idempotency_ttl: number
  /** The withdrawal that takes everything: one of the `total_balance` last shown, or only one of the present worth. */
  full_withdrawal: 'as_shown' | 'exact'
  /** Number of forms of the service audience in the scope of a token request; the token has the form that was requested. */
  idp_scopes: 'one' | 'two'
  /** Seconds. */
  idp_token_lifetime: number
  /** Seconds by which `iat` and `nbf` of a user token may be ahead. */
  user_token_leeway: number
  /** `several`: a user token of another issuer or tenant has an error code of its own. */
  user_token_codes: 'one' | 'several'
}

/** Defaults, by the assumptions. */
export const DEFAULT_SETTINGS: ServiceSettings = {
  name: 'Service',
  protocols: ['aave', 'morpho'],
  audience: 'api://yield-sandbox',
  error_body: 'problem',
  base_path: '',
  error_docs: 'none',
  error_amounts: 'minor_units',
  end_user_jwt: 'optional',
  end_user_idempotency_key: 'accepted',
  external_ids: EXTERNAL_ID_FORM.pattern,
  transfer_status: 200,
  yield_harvest: 'none',
  idempotency_key_format: 'uuid_v4',
  idempotency_in_flight: 'join',
  idempotency_ttl: 24 * 60 * 60 * 1000,
  full_withdrawal: 'as_shown',
  idp_scopes: 'one',
  idp_token_lifetime: 3600,
  user_token_leeway: 60,
  user_token_codes: 'one',
}

/** Named sets of defaults (`service.profile`); a setting of the fixture overrides them. */
export const PROFILES = {
  specification: DEFAULT_SETTINGS,
  /** As the public documentation of live services of this shape describes it, where the specification is silent or says less. */
  'live-like': {
    ...DEFAULT_SETTINGS,
    base_path: '/api',
    error_docs: 'https://docs.example.com/errors',
    error_amounts: 'whole_tokens',
    end_user_jwt: 'required',
    end_user_idempotency_key: 'required',
    idempotency_key_format: 'opaque',
    yield_harvest: 'recorded',
    idp_scopes: 'two',
    user_token_codes: 'several',
  },
} as const satisfies Record<string, ServiceSettings>
