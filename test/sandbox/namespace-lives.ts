import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Credentials, type SandboxHandle, startSandbox } from '../../src/index.ts'
import { partnerAt } from '../helpers/partner.ts'

let directory: string
export let sandbox: SandboxHandle

/** Starts the sandbox of a file's tests on a data directory of its own, and stops it after them. */
export function openLives(): void {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-lives-'))
    await start()
  })
  afterEach(() => vi.restoreAllMocks())
  afterAll(async () => {
    await sandbox.stop()
    await rm(directory, { recursive: true, force: true })
  })
}

async function start(): Promise<void> {
  sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, dataDir: directory })
}

export async function restart(): Promise<void> {
  await sandbox.stop()
  await start()
}

export const control = (path: string, init: RequestInit = {}) =>
  fetch(new URL(`/_sandbox/namespaces${path}`, sandbox.baseUrl), {
    ...init,
    ...(init.body !== undefined && { headers: { 'content-type': 'application/json' } }),
  })
export const make = (name: string) => control('', { method: 'POST', body: JSON.stringify({ name }) })
export const drop = async (name: string) => (await control(`/${name}`, { method: 'DELETE' })).status
export const credentialsOf = async (name: string) =>
  (await (await control(`/${name}/credentials`)).json()) as Credentials
export const folders = () => readdir(join(directory, 'namespaces')).catch(() => [])

/** Makes one, and deposits in it; answers the amounts that its list then shows. */
export async function madeWithDeposit(name: string) {
  const response = await make(name)
  expect(response.status).toBe(201)
  const credentials = (await response.json()) as Credentials
  const partner = partnerAt(credentials)
  const portfolio = await partner.open('zoe')
  expect((await partner.deposit('zoe', portfolio, '2000000')).status).toBe(200)
  return { credentials, portfolio }
}

/** So many names are made anew while their namesakes are deleted, so many times. */
export function madeAnew(count: number, rounds: number): void {
  test('a name that is made anew while its namesake is deleted loses nothing, over and over, under load', async () => {
    const names = Array.from({ length: count }, (_, i) => `ci-${i + 1}`)
    const lives = await Promise.all(
      names.map(async (name) => {
        let life = await madeWithDeposit(name)
        for (let round = 0; round < rounds; round++) {
          const dropped = drop(name)
          life = await madeWithDeposit(name)
          expect(await dropped).toBe(204)
        }
        return life
      }),
    )
    expect(await folders()).toHaveLength(names.length)
    await restart()
    for (const [i, { credentials, portfolio }] of lives.entries()) {
      const { tenants } = credentials
      const partner = partnerAt({ ...(await credentialsOf(names[i]!)), tenants })
      const { body } = await partner.get('end_users/zoe/portfolios')
      expect(body.data).toMatchObject([{ portfolio_id: portfolio, deposited: '2000000' }])
      expect(await (await control(`/${names[i]}/audit`)).json()).toMatchObject({ ok: true })
    }
    for (const name of names) expect(await drop(name)).toBe(204)
    expect(await folders()).toEqual([])
  })
}
