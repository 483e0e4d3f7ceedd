import { type FidelityRow, section } from './row.ts'

const KEYS = 'test/specification/idempotency-key.test.ts'

/** spec: Authentication */
export const TOKEN_ROWS: readonly FidelityRow[] = [
  ...section('Identity-provider token', 'test/specification/idp-token.test.ts', [
    [
      '1',
      'OAuth 2.0 client credentials grant: POST to the token address, content type application/x-www-form-urlencoded.',
      'Identity-provider token 1: a POST of a form gets a token that the service takes',
    ],
    [
      '2',
      'Form fields grant_type (client_credentials), client_id, client_secret and scope, which is the audience and /.default.',
      'Identity-provider token 2: the field %s is required and must be right',
    ],
    [
      '3',
      'The response has access_token and expires_in. Clients cache the token until 60 seconds before expiry.',
      'Identity-provider token 3: the response has access_token and expires_in, which is how long the token lives',
    ],
    [
      '4',
      'appid is mapped to a registered tenant; one that matches none is 401 unknown_partner.',
      'Identity-provider token 4: an unmatched appid is 401 unknown_partner',
    ],
    ['5', 'A missing bearer header is 401 token_missing.', 'Identity-provider token 5: %s is 401 token_missing'],
    [
      '6',
      'An expired or malformed token, or one of an unexpected audience, is 401 invalid_idp_token; the client refreshes and retries once.',
      'Identity-provider token 6: a token %s is 401 invalid_idp_token',
    ],
    [
      '7',
      'A tenant without access to an endpoint gets 403 insufficient_role.',
      'Identity-provider token 7: a tenant without access to an endpoint gets 403 insufficient_role',
    ],
  ]),
  ...section('User token', 'test/specification/user-token.test.ts', [
    [
      '1',
      'The partner mints it and signs it with its own private key, RS256.',
      'User token 1: a token the partner signs with its own private key using RS256 is taken',
    ],
    ['2', 'Header: alg RS256, kid, typ JWT.', 'User token 2: the header member %s as %j is refused'],
    [
      '3',
      'Claims sub (the external_id in the URL), iss (as registered), aud (the service audience), iat and exp.',
      'User token 3: the claim %s as %j is refused',
    ],
    [
      '4',
      'A failed signature check or an expired token is 401 invalid_user_token.',
      'User token 4: a failed signature check gives 401 invalid_user_token',
    ],
    [
      '5',
      'A sub that differs from external_id in the URL is 403 sub_url_mismatch.',
      'User token 5: a sub that differs from the URL gives 403 sub_url_mismatch on every user-scoped endpoint',
    ],
    [
      '6',
      'A partner registers its public key or issuer with the service; how is the assumption user-key.',
      "User token 1: another tenant's key is refused",
    ],
  ]),
  ...section('Idempotency-Key', KEYS, [
    ['required', 'A UUID v4, required on create portfolio, deposit and withdraw.', 'Idempotency-Key: is required'],
    [
      'retries',
      'The same key is reused when retrying the same logical operation.',
      'Idempotency-Key: reused when retrying the same operation, it happens once and is answered alike',
    ],
  ]),
]
