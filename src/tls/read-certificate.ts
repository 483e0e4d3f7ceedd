import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ServerCertificate } from './server-certificate.ts'
import { TlsError } from './tls-error.ts'

/** Paths of two PEM files. */
export interface CertificateFiles {
  cert: string
  key: string
}

/** The certificate and the key in two PEM files. Throws TlsError when they are not that, or do not belong together. */
export async function readCertificate({ cert, key }: CertificateFiles): Promise<ServerCertificate> {
  const chain = await read(cert, '--tls-cert')
  const privateKey = await read(key, '--tls-key')
  const certificate = parse(cert, 'it holds no certificate in PEM', 'give --tls-cert a PEM file', () => {
    return new X509Certificate(chain)
  })
  if (!certificate.checkPrivateKey(readKey(key, privateKey))) {
    throw new TlsError(key, `it is not the key of ${cert}`, 'give --tls-cert and --tls-key files that belong together')
  }
  return { cert: chain, key: privateKey, discard: async () => undefined }
}

function readKey(path: string, pem: string): KeyObject {
  const encrypted = /ENCRYPTED/.test(pem)
  const problem = encrypted ? 'the key is encrypted' : 'it holds no private key in PEM'
  const fix = encrypted ? 'give --tls-key the key without a passphrase' : 'give --tls-key a PEM file'
  return parse(path, problem, fix, () => createPrivateKey(pem))
}

async function read(path: string, flag: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new TlsError(path, `it cannot be read (${code})`, `give ${flag} a PEM file that is there and readable`, error)
  }
}

function parse<T>(path: string, problem: string, fix: string, parser: () => T): T {
  try {
    return parser()
  } catch (error) {
    throw new TlsError(path, problem, fix, error)
  }
}
