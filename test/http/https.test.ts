import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { trustingFetch } from '../../src/control/trusting-fetch.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { issueCertificate } from '../../src/tls/issue-certificate.ts'
import { testSandbox } from '../helpers/partner.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yield-sandbox-https-'))
})
afterAll(() => rm(folder, { recursive: true }))

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
const portOf = ({ baseUrl }: SandboxHandle) => new URL(baseUrl).port

/** What ends a request before its answer, or its status. */
function ending(url: string, ca: string, headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(url, { ca, headers, agent: false }, (response) => {
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.message))
      response.on('end', () => resolve(String(response.statusCode)))
      response.resume()
    })
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.message))
    asked.end()
  })
}

describe('a self-signed sandbox', () => {
  let sandbox: SandboxHandle
  let ca: string
  let caFile: string
  beforeAll(async () => {
    sandbox = await testSandbox({ tls: 'self-signed' })
    caFile = (await sandbox.credentials()).ca_file ?? ''
    ca = await readFile(caFile, 'utf8')
  })
  afterAll(() => sandbox.stop())

  test.each(['127.0.0.1', 'localhost', '[::1]'])(
    'is trusted at %s by whoever trusts its CA file, and by nobody else',
    async (name) => {
      const url = `https://${name}:${portOf(sandbox)}`
      expect(sandbox.baseUrl).toBe(`https://127.0.0.1:${portOf(sandbox)}`)
      const document = await trustingFetch(ca)(`${url}/.well-known/openid-configuration`, {
        method: 'GET',
        headers: {},
      })
      expect(JSON.parse(await document.text())).toMatchObject({ issuer: url, token_endpoint: `${url}/oauth2/token` })
      await expect(fetch(`${url}/_sandbox/health`)).rejects.toThrow()
    },
  )

  test('keeps the file to its owner, and the key off the disk', async () => {
    expect([await mode(caFile), await mode(dirname(caFile))]).toEqual(['600', '700'])
    expect(await readdir(dirname(caFile))).toEqual(['ca.pem'])
    expect(ca).not.toContain('PRIVATE')
  })

  test('has a chain client for the same process', async () => {
    expect(await sandbox.chain.getChainId()).toBe(31337)
  })

  test('closes and resets connections as faults ask', async () => {
    const asked = (fault: string) => ending(`${sandbox.baseUrl}/v1/partner/pools`, ca, { 'x-sandbox-fault': fault })
    expect(await asked('drop_connection; how=reset')).toBe('read ECONNRESET')
    expect(await asked('drop_connection; how=close')).toBe('socket hang up')
    expect(await asked('error; code=rate_limited')).toBe('429')
    expect(await ending(`${sandbox.baseUrl}/_sandbox/health`, ca)).toBe('200')
  })

  // The last one: it ends the sandbox.
  test('removes the file when it stops', async () => {
    expect(await mode(caFile)).toBe('600')
    await sandbox.stop()
    await expect(stat(dirname(caFile))).rejects.toThrow('ENOENT')
  })
})

test('a data directory keeps the certificate as long as it fits', async () => {
  const options = { port: 0, seed: 7, dataDir: join(folder, 'data'), tls: 'self-signed' as const }
  const once = async (more = {}) => {
    await using sandbox = await startSandbox({ ...options, ...more })
    const { ca_file = '' } = await sandbox.credentials()
    const ca = await readFile(ca_file, 'utf8')
    return { ca_file, ca }
  }
  const first = await once()
  expect(first.ca_file).toBe(join(options.dataDir, 'tls', 'ca.pem'))
  for (const name of ['ca.pem', 'server.pem']) expect(await mode(join(options.dataDir, 'tls', name))).toBe('600')
  expect((await once()).ca).toBe(first.ca)
  const elsewhere = await once({ publicUrl: 'https://sandbox.acme.test', controlToken: 'correct-horse' })
  expect(elsewhere.ca).not.toBe(first.ca)
  await writeFile(join(options.dataDir, 'tls', 'server.pem'), 'spoilt')
  expect((await once()).ca).not.toBe(elsewhere.ca)
})

describe('a certificate of files', () => {
  let cert: string
  let key: string
  beforeAll(async () => {
    const issued = await issueCertificate(['localhost', 'sandbox.acme.test'], new SandboxClock().wallNow())
    ;[cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    await writeFile(cert, `${issued.cert}${issued.ca}`)
    await writeFile(key, issued.key)
    await writeFile(join(folder, 'ca.pem'), issued.ca)
    await writeFile(join(folder, 'other.pem'), (await issueCertificate(['localhost'], 0)).key)
    await writeFile(
      join(folder, 'locked.pem'),
      '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n',
    )
    await writeFile(join(folder, 'text.pem'), 'a text')
  })

  test('is served', async () => {
    await using sandbox = await testSandbox({ tlsCert: cert, tlsKey: key })
    const url = `https://localhost:${portOf(sandbox)}/_sandbox/health`
    expect(await ending(url, await readFile(join(folder, 'ca.pem'), 'utf8'))).toBe('200')
    expect((await sandbox.credentials()).ca_file).toBeUndefined()
  })

  test.each([
    ['none.pem', 'key.pem', /none\.pem: it cannot be read \(ENOENT\)\. Fix: .*--tls-cert/],
    ['cert.pem', 'none.pem', /none\.pem: it cannot be read \(ENOENT\)\. Fix: .*--tls-key/],
    ['text.pem', 'key.pem', /text\.pem: it holds no certificate in PEM\. Fix: .*--tls-cert/],
    ['cert.pem', 'text.pem', /text\.pem: it holds no private key in PEM\. Fix: .*--tls-key/],
    ['cert.pem', 'locked.pem', /locked\.pem: the key is encrypted\. Fix: .*without a passphrase/],
    ['cert.pem', 'other.pem', /other\.pem: it is not the key of .*cert\.pem\. Fix/],
  ])('of %s and %s is refused, with file and fix', async (certName, keyName, message) => {
    const options = { port: 0, tlsCert: join(folder, certName), tlsKey: join(folder, keyName) }
    await expect(startSandbox(options)).rejects.toThrow(message)
  })

  test('is wanted whole, and instead of a self-signed one', async () => {
    await expect(startSandbox({ port: 0, tlsCert: cert })).rejects.toThrow('--tls-cert needs --tls-key')
    await expect(startSandbox({ port: 0, tlsKey: key })).rejects.toThrow('--tls-key needs --tls-cert')
    const both = startSandbox({ port: 0, tls: 'self-signed', tlsCert: cert, tlsKey: key })
    await expect(both).rejects.toThrow('leave out --tls-cert')
    await expect(startSandbox({ port: 0, tls: 'yes' as 'self-signed' })).rejects.toThrow(
      'tls "yes" is not known; use self-signed',
    )
  })
})
