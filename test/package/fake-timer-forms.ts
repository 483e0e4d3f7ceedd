import { createRequire } from 'node:module'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type * as library from '../../src/index.ts'
import { Partner } from '../helpers/partner.ts'

/** What is published: the bundle takes timers and clocks for the packages in it, too. */
const require = createRequire(import.meta.url)
export const load = () => require('../../dist/index.js') as typeof library

type FakeTimers = NonNullable<Parameters<typeof vi.useFakeTimers>[0]>

/** But for `nextTick` and `queueMicrotask`: without them Node's own fetch stands still, that of the test included. */
const ALL = [
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] as const),
  ...(['Date', 'performance', 'hrtime'] as const),
]

export const FORMS: [string, FakeTimers][] = [
  ['by default', {}],
  ['all that can be', { toFake: [...ALL] }],
  ['advancing by themselves', { shouldAdvanceTime: true }],
  ['years ahead', { now: new Date('2045-01-01T00:00:00Z') }],
  ['the clock alone, in the past', { toFake: ['Date'], now: 0 }],
]

/** Whatever needs a timer or a clock: deposits, tokens, faults, the clock, a reset. */
export async function useEverything(sandbox: library.SandboxHandle, real: () => number): Promise<void> {
  const acme = new Partner(sandbox)
  const began = await sandbox.clock.now()
  expect(Math.abs(began - real()), 'business time is real time').toBeLessThan(60_000)
  const portfolio = await acme.open('carol')
  expect((await acme.deposit('carol', portfolio, '1000000')).status).toBe(200)
  expect(await sandbox.clock.now(), 'business time runs').toBeGreaterThan(began)
  const blocks = [await sandbox.chain.getBlockNumber()]
  expect((await acme.withdraw('carol', portfolio, '500000')).status).toBe(200)
  blocks.push(await sandbox.chain.getBlockNumber())
  expect(blocks[1]! > blocks[0]!, 'the chain goes on').toBe(true)
  const { body } = await acme.get('end_users/carol/transactions')
  expect(Math.abs(Date.parse(body.data[0].timestamp ?? body.data[0].created_at) - real())).toBeLessThan(60_000)
  await sandbox.faults.add({ kind: 'latency', with: { delay: '20ms' }, match: { operation: 'list_pools' } })
  expect((await acme.get('pools')).status).toBe(200)
  const expired = await sandbox.userToken('carol', { expiresIn: -60 })
  expect((await acme.get('end_users/carol/portfolios', { headers: { 'x-user-token': expired } })).status).toBe(401)
  await sandbox.clock.advance('1d')
  expect((await sandbox.clock.now()) - began).toBeGreaterThanOrEqual(24 * 60 * 60 * 1000)
  expect((await sandbox.audit()).ok).toBe(true)
  await sandbox.reset()
  expect((await acme.get('end_users/carol/portfolios')).status).toBe(404)
}

/** Holds that a sandbox works with these, whenever they come. */
export function holdWith(forms: typeof FORMS): void {
  describe.each(forms)('fake timers %s', (_name, form) => {
    afterEach(() => {
      vi.useRealTimers()
    })

    const options = { port: 0, confirmationDelay: '20ms' }
    const now = Date.now.bind(Date)

    test('before the module is loaded', async () => {
      vi.useFakeTimers(form)
      for (const file of Object.keys(require.cache)) if (file.includes('/dist/')) delete require.cache[file]
      const { startSandbox } = load()
      await using sandbox = await startSandbox(options)
      await useEverything(sandbox, now)
    })

    test('before the start', async () => {
      const { startSandbox } = load()
      vi.useFakeTimers(form)
      await using sandbox = await startSandbox(options)
      await useEverything(sandbox, now)
    })

    test('after it', async () => {
      const { startSandbox, connectSandbox } = load()
      await using sandbox = await startSandbox(options)
      vi.useFakeTimers(form)
      await useEverything(sandbox, now)
      const connected = await connectSandbox({ url: sandbox.baseUrl })
      await useEverything(connected, now)
      vi.useRealTimers()
      await sandbox.reset()
    })
  })
}
