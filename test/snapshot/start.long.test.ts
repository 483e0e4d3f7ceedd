import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type SandboxHandle, type SandboxOptions, startSandbox } from '../../src/index.ts'
import { runHere } from '../cli/in-process.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { repacked } from './repacked.ts'
import { BEGINNING, richState, shownBy } from './rich-state.ts'

let sandbox: SandboxHandle
let before: string

beforeAll(async () => {
  sandbox = await testSandbox({ clock: BEGINNING })
  await richState(sandbox)
  before = await shownBy(sandbox)
})
afterAll(() => sandbox.stop())

const at = (...args: string[]) => runHere(args, { YIELD_SANDBOX_URL: sandbox.baseUrl })

async function saved(): Promise<string> {
  const file = join(temporaryDirectory(), 'a.snapshot')
  expect(await at('snapshot', 'save', file)).toMatchObject({ code: 0, stderr: '' })
  return file
}

async function start(options: SandboxOptions): Promise<SandboxHandle> {
  const started = await startSandbox({ port: 0, confirmationDelay: 0, ...options })
  onTestFinished(() => started.stop())
  return started
}

test('save writes a file of its owner, never over another one unless it is told to, and show says what it holds', async () => {
  const file = await saved()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(`${file}.tmp`, 'half of another one, whose process was killed')
  writeFileSync(file, 'mine')
  const again = await at('snapshot', 'save', file)
  expect(again).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is there already; name another file, or give --force'),
  })
  expect(readFileSync(file, 'utf8')).toBe('mine')
  expect(await at('snapshot', 'save', file, '--force', '--json')).toMatchObject({ code: 0 })
  expect(readdirSync(join(file, '..'))).toEqual(['a.snapshot'])
  const { stdout } = await at('snapshot', 'show', file)
  expect(stdout).toMatch(/^end_users\t4$/m)
  expect(stdout).toMatch(/^frozen\ttrue$/m)
  expect(stdout).toMatch(/^business_time\t2030-03-02T00:00:00\.000Z$/m)
  expect(JSON.parse((await at('snapshot', 'show', file, '--json')).stdout)).toMatchObject({
    transactions: 5,
    seed: 7,
    form: 1,
  })
  writeFileSync(file, readFileSync(file).subarray(0, 3000))
  expect(await at('snapshot', 'show', file)).toMatchObject({
    code: 2,
    stderr: `yield-sandbox: ${file}: it is cut off: it ends at byte 3000, before its last line. Fix: take another copy of the file, or save the state again.\n`,
  })
  expect(await at('namespaces', 'create', 'cut', '--snapshot', file)).toMatchObject({ code: 2 })
  expect(await at('snapshot', 'show', `${file}.none`)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no such file'),
  })
  expect(await at('snapshot', 'show', join(file, '..'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('it is no file'),
  })
})

test('a start goes on from a snapshot, without a data directory and with one, over restarts', async () => {
  const snapshot = await saved()
  const plain = await start({ snapshot })
  expect(await shownBy(plain)).toBe(before)
  expect(plain).toMatchObject({ seed: 7, tenants: (await sandbox.credentials()).tenants })
  await plain.stop()
  const dataDir = join(temporaryDirectory(), 'data')
  const kept = await start({ snapshot, dataDir })
  expect(await shownBy(kept)).toBe(before)
  const yan = (await new Partner(kept).get('end_users/yan/portfolios')).body.data[0].portfolio_id
  expect((await new Partner(kept).deposit('yan', yan, '42')).status).toBe(200)
  const after = await shownBy(kept)
  await kept.stop()
  await expect(start({ snapshot, dataDir })).rejects.toThrow(
    /data: it holds a state already, and --snapshot begins with another one/,
  )
  const again = await start({ dataDir })
  expect(await shownBy(again)).toBe(after)
  expect(await again.audit()).toMatchObject({ ok: true })
})

test('other tenants than those of the fixture file come with keys of their own, which a data directory keeps', async () => {
  const snapshot = await saved()
  const stranger = await repacked(readFileSync(snapshot, 'utf8'), (value, name) => {
    const renamed = JSON.stringify(value).replaceAll(
      '0a1c3e5a-7b9d-4f10-8a2b-4c6d8e0f1a01',
      '0a1c3e5a-7b9d-4f10-8a2b-4c6d8e0f1aff',
    )
    return name.startsWith('chain') ? value : JSON.parse(renamed)
  })
  writeFileSync(snapshot, stranger)
  const dataDir = join(temporaryDirectory(), 'data')
  const first = await start({ snapshot, dataDir })
  const [ours] = first.tenants
  expect(ours!.client_secret).not.toBe(sandbox.tenants[0]!.client_secret)
  expect(ours!.private_key_pem).not.toBe(sandbox.tenants[0]!.private_key_pem)
  const old = { 'x-user-token': await sandbox.userToken('zoe') }
  expect((await new Partner(first).get('end_users/zoe/portfolios')).status).toBe(200)
  expect((await new Partner(first).get('end_users/zoe/portfolios', { headers: old })).status).toBe(200)
  await first.stop()
  const again = await start({ dataDir })
  expect(again.tenants).toEqual(first.tenants)
  expect((await new Partner(again).get('end_users/zoe/portfolios')).status).toBe(200)
})

test('a start that contradicts its snapshot is refused, and writes nothing', async () => {
  const snapshot = await saved()
  await expect(start({ snapshot, seed: 8 })).rejects.toThrow('it was made with seed 7, not 8. Fix: leave --seed out.')
  await expect(start({ snapshot, clock: BEGINNING })).rejects.toThrow('its clock is past')
  const dataDir = join(temporaryDirectory(), 'data')
  writeFileSync(snapshot, readFileSync(snapshot).subarray(1))
  await expect(start({ snapshot, dataDir })).rejects.toThrow(`${snapshot}: it is not a snapshot of yield-sandbox`)
  expect(existsSync(dataDir)).toBe(false)
})

test('fixtures from-snapshot makes a sound fixture file with the same principal', async () => {
  const snapshot = await saved()
  const directory = join(temporaryDirectory(), 'made')
  const { code, stdout } = await at('fixtures', 'from-snapshot', snapshot, directory)
  expect(code).toBe(0)
  expect(stdout).toContain(`${directory}/sandbox.yaml\t3 tenants, 4 end users, 3 portfolios`)
  expect(stdout).toMatch(/^left out\t5 transactions, their hashes/m)
  expect((await at('fixtures', 'validate', `${directory}/sandbox.yaml`)).stdout).toContain('sound, 3 tenants')
  expect((await at('fixtures', 'from-snapshot', snapshot, directory)).code).toBe(2)
  const seeded = await start({ fixtures: `${directory}/sandbox.yaml` })
  const principals = async (one: SandboxHandle) =>
    Promise.all(
      ['alice', 'zoe', 'yan'].map(async (user) => {
        const { data } = (await new Partner(one).get(`end_users/${user}/portfolios`)).body
        return data.map(({ name, deposited }: Record<string, string>) => [user, name, deposited])
      }),
    )
  expect(await principals(seeded)).toEqual(await principals(sandbox))
})
