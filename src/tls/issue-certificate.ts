import 'reflect-metadata' // before @peculiar/x509, which needs the metadata functions that this adds
import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY = 24 * 60 * 60 * 1000
/** Days. Apple's systems accept 825 at most. */
const LIFETIME = 365

/** PEM texts. */
export interface Issued {
  /** The authority's certificate. */
  ca: string
  cert: string
  key: string
}

/**
 * Issues a certificate for these host names and addresses, valid from a day before `now`, by an authority made for it alone. Nobody
 * keeps the authority's key, so a client that trusts the authority trusts this certificate and no other.
 */
export async function issueCertificate(names: readonly string[], now: number): Promise<Issued> {
  const validity = { notBefore: new Date(now - DAY), notAfter: new Date(now + LIFETIME * DAY) }
  const authority = await generateKeys(false)
  const server = await generateKeys(true)
  const common = { ...validity, signingAlgorithm: ALGORITHM }
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...common,
    // A unique name, so that it is not taken for the authority of another sandbox.
    name: `CN=yield-sandbox ${randomBytes(4).toString('hex')}`,
    keys: authority,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(authority.publicKey),
    ],
  })
  const cert = await X509CertificateGenerator.create({
    ...common,
    subject: 'CN=yield-sandbox',
    issuer: ca.subject,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value }))),
      await SubjectKeyIdentifierExtension.create(server.publicKey),
      await AuthorityKeyIdentifierExtension.create(ca),
    ],
  })
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', server.privateKey)).toString('base64')
  const lines = key.replace(/.{1,64}/g, '$&\n')
  const pem = `-----BEGIN PRIVATE KEY-----\n${lines}-----END PRIVATE KEY-----\n`
  return { ca: `${ca.toString('pem')}\n`, cert: `${cert.toString('pem')}\n`, key: pem }
}

function generateKeys(extractable: boolean) {
  return webcrypto.subtle.generateKey(ALGORITHM, extractable, ['sign', 'verify'])
}
