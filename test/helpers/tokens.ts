import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type JWTHeaderParameters, SignJWT } from 'jose'
import type { SandboxHandle } from '../../src/index.ts'

/** Claims or header members that replace the usual ones; undefined leaves one out. */
export type Changes = Record<string, unknown>

const IDP_KEY = new URL('../../fixtures/demo-keys/identity-provider.pem', import.meta.url)

let strangers: KeyObject | undefined

/** An RSA key that nobody knows. */
export function strangersKey(): KeyObject {
  strangers ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  return strangers
}

/** Seconds of real time since the Unix epoch. */
export const seconds = (): number => Math.floor(Date.now() / 1000)

/** An identity-provider token of acme, signed with the provider's own key unless another is given. */
export async function idpToken(sandbox: SandboxHandle, claims: Changes = {}, key?: KeyObject): Promise<string> {
  const now = seconds()
  const { audience, tenants } = await sandbox.credentials()
  const usual = { aud: audience, iss: sandbox.baseUrl, iat: now, nbf: now, exp: now + 3600, ver: '1.0' }
  const { client_id, tenant_id } = tenants[0]!
  const header = { alg: 'RS256', kid: 'sandbox-idp-1', typ: 'JWT' }
  const signingKey = key ?? createPrivateKey(readFileSync(IDP_KEY))
  return sign({ ...usual, appid: client_id, tid: tenant_id, ...claims }, header, signingKey)
}

/** A user token as the partner acme mints it for alice, with acme's private key unless another is given. */
export async function userToken(
  sandbox: SandboxHandle,
  { claims = {}, header = {}, key }: { claims?: Changes; header?: Changes; key?: KeyObject } = {},
): Promise<string> {
  const now = seconds()
  const { audience, tenants } = await sandbox.credentials()
  const { issuer, kid, private_key_pem } = tenants[0]!
  const usual = { sub: 'alice', iss: issuer, aud: audience, iat: now, exp: now + 3600 }
  const signingKey = key ?? createPrivateKey(private_key_pem!)
  return sign({ ...usual, ...claims }, { alg: 'RS256', kid, typ: 'JWT', ...header }, signingKey)
}

function sign(claims: Changes, header: Changes, key: KeyObject): Promise<string> {
  return new SignJWT(claims).setProtectedHeader(header as unknown as JWTHeaderParameters).sign(key)
}
