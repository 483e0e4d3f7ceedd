import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { Credentials } from '../../src/index.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { atSomeMoment, ClientLoad } from './harness/client-load.ts'
import { ClientMemory } from './harness/client-memory.ts'
import { expectNothingLost } from './harness/expect-nothing-lost.ts'
import type { HarnessDeps } from './harness/harness-parts.ts'
import { SandboxProcess } from './harness/sandbox-process.ts'

// `DISK_ROUNDS=200 npx vitest run test/reliability/faulty-disk.long.test.ts` tries more.
const ROUNDS = Number(process.env.DISK_ROUNDS ?? 5)
const SEED = Number(process.env.DISK_SEED ?? 7)
/** The disk fails about one call in so many, while it fails. */
const ONE_IN = ['3', '8', '30']
const DOINGS = ['clock', 'reset', 'namespaces', 'kill', 'kill'] as const

const random = new SeededRandom(SEED)
const draw = (limit: number) => Math.floor(random.next('plan') * limit)
const env: Record<string, string> = {}
const sandbox = new SandboxProcess({ env, flags: ['--namespace-idle', '1s'] })
const library = join(sandbox.dataDir, '..', 'faulty-disk.so')
const faulty = join(sandbox.dataDir, '..', 'faulty')
const source = fileURLToPath(new URL('faulty-disk/faulty-disk.c', import.meta.url))
const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']).status === 0
const memory = new ClientMemory()
/** Namespaces that were answered for and not deleted since, with the amount that was deposited in each. */
const kept = new Map<string, { credentials: Credentials; portfolio: string }>()
let deps: HarnessDeps
/** How often the log said that the disk had no room, which it had. */
let failures = 0

async function start(round: number): Promise<void> {
  env.FAULTY_ONE_IN = ONE_IN[draw(ONE_IN.length)]!
  env.FAULTY_SEED = String(SEED * 1_000 + round)
  const credentials = await sandbox.start('0')
  const control = new ControlClient(credentials.base_url)
  const [rpcUrl = ''] = Object.values(credentials.rpc_urls)
  deps = { acme: partnerAt(credentials), control, rpcUrl, memory, random, round }
}

/** The status and words of an answer; undefined when there was none. */
async function asked(method: 'POST' | 'DELETE', path: string, body?: unknown) {
  const url = new URL(`/_sandbox/${path}`, deps.acme.sandbox.baseUrl)
  const json = body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return fetch(url, { method, ...json })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch(() => undefined)
}

/** Makes some with a deposit and deletes others, while the disk fails: what is answered is remembered. */
async function namespaces(round: number): Promise<void> {
  for (const name of [`n${round}-1`, `n${round}-2`, 'again', 'again']) {
    if (kept.has(name)) {
      const deleted = await asked('DELETE', `namespaces/${name}`)
      if (deleted?.status === 204) kept.delete(name)
      else expect([deleted?.status, deleted?.text]).toEqual([503, expect.stringContaining('nothing was done')])
    }
    const made = kept.has(name) ? undefined : await asked('POST', 'namespaces', { name })
    if (made?.status !== 201) continue
    const credentials = JSON.parse(made.text) as Credentials
    const partner = partnerAt(credentials)
    const portfolio = await eventually(async () => {
      const opened = await partner.open('zoe')
      expect(opened).toBeDefined()
      return opened
    })
    await eventually(async () => {
      const key = '33333333-3333-4333-8333-333333333333'
      expect((await partner.deposit('zoe', portfolio, '1000', { key })).status).toBe(200)
    })
    kept.set(name, { credentials, portfolio })
  }
}

async function expectNamespacesKept(): Promise<void> {
  const listed = await deps.control.namespaces()
  const names = listed.map(({ name }) => name).filter((name) => name !== 'default')
  expect(names.toSorted()).toEqual([...kept.keys()].toSorted())
  expect(readdirSync(join(sandbox.dataDir, 'namespaces'))).toHaveLength(kept.size)
  for (const [name, { credentials, portfolio }] of kept) {
    const here = await new ControlClient(deps.acme.sandbox.baseUrl, { namespace: name }).credentials()
    const partner = partnerAt({ ...here, tenants: credentials.tenants })
    const { body } = await partner.get('end_users/zoe/portfolios')
    expect(body.data).toMatchObject([{ portfolio_id: portfolio, deposited: '1000' }])
  }
}

/** What was answered holds: undone, begun, or done. Without an answer, a kill came first. */
async function expectResetAsAnswered(answer: Awaited<ReturnType<typeof asked>>, users: string[]): Promise<void> {
  const answers = await Promise.all(users.map((user) => deps.acme.get(`end_users/${user}/transactions`)))
  const found = new Set(answers.map(({ status }) => status))
  expect(found.size).toBeLessThanOrEqual(1)
  if (answer?.text.includes('nothing was done')) expect(found.has(404)).toBe(false)
  else if (answer) expect(found.has(200)).toBe(false)
  if (!found.has(200)) memory.forget()
}

beforeAll(async () => {
  if (!compiled) return console.warn('left out: there is no C compiler (cc) for the faulty disk')
  Object.assign(env, { LD_PRELOAD: library, FAULTY_DIR: sandbox.dataDir, FAULTY_SWITCH: faulty })
  await start(0)
})
afterAll(() => sandbox.dispose())

describe.skipIf(!compiled)(`on a disk that fails at random, seed ${SEED}`, () => {
  test.each(Array.from({ length: ROUNDS }, (_, round) => [round, DOINGS[round % DOINGS.length]!] as const))(
    'round %i, %s: nothing that was answered is lost, and nothing happens twice',
    async (round, doing) => {
      onTestFailed(() => console.error(sandbox.log.slice(-20_000)))
      deps = { ...deps, round }
      const load = new ClientLoad(deps)
      await atSomeMoment(100 + draw(300))
      const users = [...memory.users]
      if (doing === 'reset') await load.stop()
      writeFileSync(faulty, '')
      const before = await deps.control.clock()
      const moved = doing === 'clock' ? await asked('POST', 'clock', { advance: '1h' }) : undefined
      const reset = doing === 'reset' ? await asked('POST', 'reset') : undefined
      if (doing === 'namespaces') await namespaces(round)
      await atSomeMoment(draw(600))
      failures += sandbox.log.split('ENOSPC').length - 1
      if (doing === 'kill') await sandbox.end('SIGKILL')
      rmSync(faulty)
      await load.stop()
      await sandbox.end(draw(2) ? 'SIGKILL' : 'SIGTERM')
      await start(round)
      const { offset_seconds } = await deps.control.clock()
      const ahead = Math.round((offset_seconds - before.offset_seconds) / 3_600)
      if (moved) expect([moved.status, ahead]).toEqual([moved.status, moved.status === 200 ? 1 : 0])
      if (doing === 'reset') await expectResetAsAnswered(reset, users)
      await expectNothingLost(deps)
      if (doing === 'namespaces') await expectNamespacesKept()
    },
  )

  test('the disk did fail', () => expect(failures).toBeGreaterThan(ROUNDS))
})
