import { isEveryInterface } from '../domain/origin.ts'
import { type CertificateFiles, readCertificate } from './read-certificate.ts'
import { selfSigned } from './self-signed.ts'
import type { ServerCertificate } from './server-certificate.ts'

/** Where the certificate comes from, and what it is for. */
export interface CertificateOptions {
  tls: 'self-signed' | CertificateFiles | undefined
  /** The address listened on; undefined for loopback. */
  host: string | undefined
  publicUrl: string | undefined
}

/**
 * The certificate to serve https with; undefined for http. A self-signed one is kept in the data directory, if there is
 * one. `now` is in milliseconds. Throws TlsError.
 */
export async function chooseCertificate(
  { tls, host, publicUrl }: CertificateOptions,
  directory: string | undefined,
  now: number,
): Promise<ServerCertificate | undefined> {
  if (tls === undefined) return undefined
  if (tls !== 'self-signed') return readCertificate(tls)
  const outside = publicUrl === undefined ? [] : [new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1')]
  const listened = host === undefined || isEveryInterface(host) ? [] : [host]
  const names = new Set(['localhost', '127.0.0.1', '::1', ...listened, ...outside])
  return selfSigned({ names: [...names], directory, now })
}
