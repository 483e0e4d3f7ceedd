import type { Credentials } from '../../src/index.ts'
import { jsonText, RawJson } from './hostile-values.ts'

/** How the control interface is asked to mint: each wrong in one thing. */
const WISHES: readonly Record<string, unknown>[] = [
  { expires_in: -10 },
  { key: 'unknown' },
  { header: { alg: 'none' } },
  { header: { alg: 'HS256' } },
  { header: { kid: null } },
  { header: { kid: { toString: 'x' } } },
  { header: { kid: '../../etc/passwd' } },
  { header: { crit: ['exp'] } },
  { header: { crit: ['b64'], b64: false } },
  { header: { jku: 'http://127.0.0.1:1/jwks.json' } },
  { header: { typ: 'x'.repeat(3_000) } },
  { claims: { appid: null, sub: null } },
  { claims: { appid: 7, sub: 7 } },
  { claims: { appid: { $ne: null }, sub: ['alice'] } },
  { claims: { appid: '__proto__', sub: '__proto__' } },
  { claims: { aud: null } },
  { claims: { aud: [] } },
  { claims: { iss: {} } },
  { claims: { exp: null } },
  { claims: { exp: '9999999999' } },
  { claims: { exp: 1e300 } },
  { claims: { iat: -1, nbf: 1e15 } },
  { claims: { iat: 'yesterday' } },
]

/** Headers and payloads nobody mints. */
const UNSIGNED: readonly unknown[] = [
  null,
  [],
  {},
  'text',
  new RawJson('{'),
  new RawJson('['.repeat(3_000) + ']'.repeat(3_000)),
  new RawJson('{"__proto__":{"alg":"RS256"},"alg":"RS256"}'),
  { alg: 'RS256', kid: 'acme-1', typ: 'JWT' },
  { alg: ['RS256'], kid: 'acme-1' },
  { alg: 'RS256', kid: 'nobody-1' },
]

const TEXTS = ['', 'a', 'a.b', 'a.b.c', 'a.b.c.d.e', '...', '.'.repeat(2_000), 'é.é.é', ' ', '==.==.==']

/** Tokens, none of which is good for anything: minted by wish, put together by hand, and no tokens at all. */
export async function brokenTokens({ control_url, tenants }: Credentials): Promise<string[]> {
  const [acme] = tenants
  const minted = WISHES.flatMap((wish) => [
    mint(`${control_url}/tenants/${acme?.slug}/idp_tokens`, wish),
    mint(`${control_url}/tenants/${acme?.slug}/user_tokens`, { external_id: 'alice', ...wish }),
  ])
  const encoded = UNSIGNED.map((part) => Buffer.from(jsonText(part)).toString('base64url'))
  const unsigned = encoded.flatMap((part) => [`${part}.${encoded[2]}.c2ln`, `${encoded[7]}.${part}.c2ln`])
  return [...(await Promise.all(minted)), ...unsigned, ...TEXTS]
}

async function mint(url: string, wish: object): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(wish) })
  const { token } = (await response.json()) as { token?: string }
  return token ?? ''
}
