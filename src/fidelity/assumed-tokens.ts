import { assumed, type FidelityRow, LIVE, testsIn } from './row.ts'

const tokens = testsIn('test/specification/assumptions-tokens.test.ts')
const beside = testsIn('test/specification/behaviours-requests.test.ts')
const endpoint = testsIn('test/identity/token-endpoint.test.ts')

/** Open points of the specification about tokens and keys. */
export const TOKEN_ASSUMPTIONS: readonly FidelityRow[] = [
  assumed(
    'idp-token-claims',
    'claims beside appid',
    "an Entra v1 application token's: aud, iss, iat, nbf, exp, appid, appidacr, tid, oid, sub, roles, ver 1.0; header alg RS256, kid, typ JWT",
    tokens("Assumption idp-token-claims: an Entra v1 application token's"),
    LIVE,
  ),
  assumed(
    'idp-lifetime',
    'expires_in',
    '3600 seconds, unless set otherwise',
    tokens('Assumption idp-lifetime: 3600 s, or as set'),
    { ...LIVE, setting: 'service.idp_token_lifetime' },
  ),
  assumed(
    'idp-errors',
    'token endpoint errors',
    'bodies of RFC 6749 §5.2 (error, error_description) with Cache-Control: no-store; client_secret in the form or by HTTP Basic',
    tokens('Assumption idp-errors: RFC 6749 bodies, never cached; the secret in the form or by HTTP Basic'),
    { source: 'RFC 6749 §5.2' },
  ),
  assumed(
    'user-key',
    'how a partner registers its key and issuer',
    'in the fixture file: issuer and one of jwks_uri (fetched, cached by kid), jwks, public_key_pem, public_key_file, or private_key_file, with which the sandbox mints user tokens, too; the last three with kid',
    tokens('Assumption user-key: the fixture registers jwks_uri (fetched once), jwks or a PEM'),
    LIVE,
  ),
  assumed(
    'user-token-issuer',
    'iss, aud, alg, kid or typ wrong, or header missing',
    '401 invalid_user_token',
    tokens('Assumption user-token-issuer: a wrong iss, aud, alg, kid or typ, or no header, is 401 invalid_user_token'),
  ),
  assumed(
    'user-token-times',
    'iat absent, iat or nbf in the future, exp passed',
    'iat may be absent; iat and nbf may be 60 seconds ahead, or as set; exp is exact; there is no longest lifetime',
    tokens('Assumption user-token-times: iat may be absent, iat and nbf 60 s ahead or as set; exp is exact'),
    { setting: 'service.user_token_leeway' },
  ),
  assumed(
    'idp-token-issuer',
    'another iss, tid or ver in a well-signed identity-provider token',
    '401 invalid_idp_token',
    tokens('Assumption idp-token-issuer: another iss, tid or ver in a well-signed token is 401 invalid_idp_token'),
    { source: 'RFC 8725 §3.8' },
  ),
]

/** Behaviours of tokens and keys that the specification does not mention. */
export const TOKEN_BEHAVIOURS: readonly FidelityRow[] = [
  assumed(
    'idp-issuer',
    'iss of an identity-provider token',
    "the URL of the discovery document that led to it: the sandbox's own, or {that}/{directory_id}/v2.0 from the tenant's own token address, where {directory_id} is the tenant_id if that is a UUID, else a UUID made of it; the tenant_id may stand there as well. By any of the names of loopback when it is there. These are taken, and no other",
    tokens('Behaviour idp-issuer: each name of loopback, and the address of the tenant there; no other'),
    { source: 'OpenID Connect Discovery 1.0 §4.3' },
  ),
  assumed(
    'token-form',
    'the finer form of a user token',
    'typ in any case; aud alone or in a list; crit is refused; a missing sub is 401 invalid_user_token',
    beside('Behaviour token-form: typ in any case, aud alone or in a list; a critical extension is refused'),
  ),
  assumed(
    'appid',
    'appid absent, or in another case',
    'absent is 401 invalid_idp_token; its case counts, so another one is 401 unknown_partner',
    beside('Behaviour appid: without it 401 invalid_idp_token; its case counts'),
  ),
  assumed(
    'roles',
    'the roles of an identity-provider token',
    'are not looked at: what a tenant may call is in the fixture',
    tokens('Assumption role-access: every endpoint, unless access lists fewer'),
  ),
  assumed(
    'jwks-fetching',
    'when a jwks_uri is asked',
    'when a token comes: the keys are used for 10 minutes; an unknown kid asks again, at most every 30 seconds, 5 times a minute in all; 5 seconds to answer; real time',
    testsIn('test/auth/remote-jwks.test.ts')(
      'is fetched anew after ten minutes: a key taken back ends its tokens, one kept leaves them verified',
    ),
  ),
  assumed(
    'jwks-cache',
    'rehearsing a rotation of keys',
    'DELETE /_sandbox/jwks_cache forgets what was fetched, at once',
    tokens('jwks-cache: DELETE /_sandbox/jwks_cache forgets fetched keys, so that a rotation shows at once'),
  ),
  assumed(
    'idp-metadata',
    'documents of the identity provider',
    '/.well-known/openid-configuration and /.well-known/jwks.json: what OAuth and OpenID Connect libraries start from',
    endpoint('verifies against the published keys and carries the claims of an application token'),
    { source: 'OpenID Connect Discovery' },
  ),
  assumed(
    'token-address-tenant',
    "another tenant's token address",
    '/{directory_id}/oauth2/v2.0/token of another tenant is 401 invalid_client',
    endpoint('is issued at the tenant’s own address too'),
  ),
  assumed(
    'token-form-fields',
    'fields of the token form given twice',
    '400 invalid_request; unknown fields are ignored',
    endpoint('answers invalid_request when %s is given twice'),
    { source: 'RFC 6749 §3.2' },
  ),
  assumed(
    'other-scopes',
    'a second form of the scope',
    '400 invalid_scope for all but <service_audience>/.default. Set to two, the audience may be written with and without api:// in front: the token is then for the audience as the scope had it, and the service takes either. The aud of user tokens has the one form',
    testsIn('test/specification/live-like.test.ts')('Live-like: the scope has two forms, and the token the same'),
    { ...LIVE, setting: 'service.idp_scopes' },
  ),
  assumed(
    'user-token-codes',
    'codes for a user token of a wrong issuer',
    '401 invalid_user_token, as for whatever is wrong; set to several, 401 unknown_partner_issuer, and cross_tenant_jwt for the issuer of another tenant',
    testsIn('test/specification/live-like.test.ts')(
      'Live-like: a wrong issuer and another tenant have codes of their own',
    ),
    { setting: 'service.user_token_codes' },
  ),
]
