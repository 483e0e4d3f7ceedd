import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replacePrivate } from '../data-dir/private-file.ts'
import type { ServerCertificate } from './server-certificate.ts'
import { TlsError } from './tls-error.ts'

/** What a certificate is to be good for. */
export interface SelfSignedOptions {
  /** Host names and addresses. */
  names: readonly string[]
  /** Path of a data directory that this process uses; the certificate is kept there. */
  directory: string | undefined
  /** Milliseconds since the Unix epoch. */
  now: number
}

const CA_FILE = 'ca.pem'
/** Certificate and key in one file: written at once, they cannot but belong together. */
const SERVER_FILE = 'server.pem'
/** Milliseconds a kept certificate must have left. */
const LEAST_LEFT = 30 * 24 * 60 * 60 * 1000

/**
 * A certificate of an authority of its own. Kept in the data directory, so that trust in it outlives a restart; without
 * one, the authority's certificate alone is on disk, in a temporary directory, until it is discarded. Throws TlsError when there is no writing.
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

/** The kept server file, if it is whole, the authority's, good for all the names and for a while. */
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
    return undefined // none, or damaged: it is made anew
  }
}

/** What makes certificates is loaded when one is made. */
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
