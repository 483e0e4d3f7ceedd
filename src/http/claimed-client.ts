import { decodeJwt } from 'jose'

const SCHEME = /^bearer +/i

/** The client that an `Authorization` header names, unverified: good enough to choose what verifies it, and for nothing else. */
export function claimedClient(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  try {
    const { appid } = decodeJwt(authorization.replace(SCHEME, ''))
    return typeof appid === 'string' ? appid : undefined
  } catch {
    return undefined
  }
}
