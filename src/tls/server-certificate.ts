import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replacePrivate } from '../data-dir/private-file.ts'
import { isEveryInterface } from '../domain/origin.ts'

/** The server's certificate. */
export interface ServerCertificate {
  /** PEM: its own certificate, and those between it and the authority. */
  cert: string
  key: string
  /** For a self-signed certificate: path of the authority's certificate, which clients have to trust. */
  caFile?: string
  /** Removes the files that must not outlive the sandbox. */
  discard(): Promise<void>
}

/** A certificate or key that cannot be used, or a place where none can be written; the message names it and the fix. */
export class TlsError extends Error {
  override readonly name = 'TlsError'
  readonly code = 'invalid_tls'

  constructor(path: string, problem: string, fix: string, cause?: unknown) {
    super(`${path}: ${problem}. Fix: ${fix}.`, { cause })
  }
}

/** Paths of two PEM files. */
export interface CertificateFiles {
  cert: string
  key: string
}

/** Reads certificate and key from two PEM files. Throws TlsError if they are not that, or do not belong together. */
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

/** Options of a self-signed certificate. */
export interface SelfSignedOptions {
  /** Host names and addresses. */
  names: readonly string[]
  /** Path of a data directory that this process uses; the certificate is kept there. */
  directory: string | undefined
  /** Milliseconds since the Unix epoch. */
  now: number
}

const CA_FILE = 'ca.pem'
/** Certificate and key in one file, which is written at once, so that they always belong together. */
const SERVER_FILE = 'server.pem'
/** Milliseconds for which a kept certificate must still be valid. */
const LEAST_LEFT = 30 * 24 * 60 * 60 * 1000

/**
 * Returns a certificate of an authority of its own. It is kept in the data directory, so that trust in it outlives a restart. Without
 * one, only the authority's certificate is on disk, in a temporary directory, until it is discarded. Throws TlsError if it cannot be
 * written.
 */
export async function selfSigned(options: SelfSignedOptions): Promise<ServerCertificate> {
  const { directory } = options
  return directory === undefined ? temporary(options) : kept(options, join(directory, 'tls'))
}

async function temporary({ names, now }: SelfSignedOptions): Promise<ServerCertificate> {
  const fix = 'set TMPDIR to a directory with room that can be written, or give --data-dir'
  const folder = await writing(tmpdir(), fix, () => mkdtemp(join(tmpdir(), 'yield-sandbox-tls-')))
  const discard = () => rm(folder, { recursive: true, force: true })
  const { ca, cert, key } = await issue(names, now)
  const caFile = join(folder, CA_FILE)
  try {
    await writing(caFile, fix, () => writeFile(caFile, ca, { mode: 0o600 }))
  } catch (error) {
    await discard()
    throw error
  }
  return { cert, key, caFile, discard }
}

async function kept({ names, now }: SelfSignedOptions, folder: string): Promise<ServerCertificate> {
  const caFile = join(folder, CA_FILE)
  const serverFile = join(folder, SERVER_FILE)
  const discard = async () => undefined
  const server = await goodServer(caFile, serverFile, { names, now })
  if (server !== undefined) return { cert: server, key: server, caFile, discard }
  const { ca, cert, key } = await issue(names, now)
  await writing(folder, 'make room, or give a --data-dir that can be written', async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const [path, text] of [
      [serverFile, `${cert}${key}`],
      [caFile, ca],
    ] as const) {
      const handle = await replacePrivate(path, (file) => file.writeFile(text))
      await handle.close()
    }
  })
  return { cert, key, caFile, discard }
}

/** The kept server certificate, if it is whole, of this authority, for all these names, and valid long enough. */
async function goodServer(
  caFile: string,
  serverFile: string,
  { names, now }: Pick<SelfSignedOptions, 'names' | 'now'>,
): Promise<string | undefined> {
  try {
    const server = await readFile(serverFile, 'utf8')
    const cert = new X509Certificate(server)
    const authority = new X509Certificate(await readFile(caFile))
    const good =
      cert.verify(authority.publicKey) &&
      cert.checkPrivateKey(createPrivateKey(server)) &&
      Date.parse(cert.validTo) - now >= LEAST_LEFT &&
      names.every((name) => (isIP(name) ? cert.checkIP(name) : cert.checkHost(name)) !== undefined)
    return good ? server : undefined
  } catch {
    return undefined // missing or damaged: a new one is made
  }
}

/** The code that makes certificates is loaded when one is made. */
async function issue(names: readonly string[], now: number) {
  const { issueCertificate } = await import('./issue-certificate.ts')
  return issueCertificate(names, now)
}

async function writing<T>(path: string, fix: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new TlsError(path, `the certificate cannot be written (${code ?? message})`, fix, error)
  }
}

/** Source of the certificate, and the addresses that it is for. */
export interface CertificateOptions {
  tls: 'self-signed' | CertificateFiles | undefined
  /** The address listened on; undefined for loopback. */
  host: string | undefined
  publicUrl: string | undefined
}

/**
 * The certificate for https; undefined for http. A self-signed one is kept in the data directory, if there is one. `now` is in
 * milliseconds. Throws TlsError.
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
