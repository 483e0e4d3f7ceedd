import { createRequire } from 'node:module'
import { createContext, runInContext } from 'node:vm'
import { beforeAll, describe, expect, test } from 'vitest'
import type * as client from '../../src/client.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { testNamespace, testSandbox } from '../helpers/partner.ts'
import { bundledClient } from './client-bundle.ts'

/** Whatever the bundle needs of its surroundings: nothing of it is Node's alone. */
const WEB = {
  AbortController,
  clearTimeout,
  fetch,
  Request,
  setTimeout,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
}

let script: string
let started: SandboxHandle

beforeAll(async () => {
  script = await bundledClient()
  started = await testNamespace()
})

/** Runs the bundle in an empty context with these globals. */
function loaded(globals: object): typeof client {
  const context = createContext({ ...globals })
  runInContext(script, context)
  return runInContext('bundled', context)
}

const addressOf = ({ controlUrl, namespace }: SandboxHandle) => ({ url: new URL(controlUrl).origin, namespace })

describe('yield-sandbox/client, bundled for a browser', () => {
  test('names no module of Node, and leaves out most of viem', () => {
    expect(script).not.toMatch(/\bnode:|\brequire\(|\bimport\(/)
    expect(script.length).toBeLessThan(400_000)
  })

  test('controls a sandbox where there is fetch and nothing of Node', async () => {
    const sandbox = await loaded(WEB).connectSandbox(addressOf(started))
    expect(sandbox.tenants).toEqual(started.tenants)
    await sandbox.clock.freeze()
    const before = await sandbox.clock.now()
    expect((await sandbox.clock.advance('8d')).chains).toEqual({ ok: true })
    expect(await started.clock.now()).toBe(before + 8 * 24 * 60 * 60 * 1000)
    await sandbox.faults.add({ kind: 'stuck' })
    expect(await started.faults.list()).toHaveLength(1)
    expect(await sandbox.userToken('alice')).toMatch(/^ey/)
    const { timestamp } = await sandbox.chain.getBlock()
    expect(Number(timestamp) * 1000).toBeGreaterThanOrEqual(before)
    await expect(sandbox.clock.advance('8 fortnights')).rejects.toMatchObject({ name: 'RefusedError', status: 400 })
  })

  test('ends a sandbox in whose test time is faked', async () => {
    const own = await testSandbox()
    const globals = { ...WEB }
    const context = createContext(globals)
    runInContext(script, context)
    const { connectSandbox } = runInContext('bundled', context) as typeof client
    const sandbox = await connectSandbox(addressOf(own))
    const faked = () => {
      throw new Error('time stands still')
    }
    Object.assign(globals, { setTimeout: faked, clearTimeout: faked, Date: faked })
    await sandbox.stop()
    await expect(connectSandbox(addressOf(own))).rejects.toMatchObject({ code: 'sandbox_unreachable' })
  })
})

describe('yield-sandbox/client in Node', () => {
  const require = createRequire(import.meta.url)

  test.each([
    ['imported', () => import('yield-sandbox/client' as string)],
    ['required', async () => require('yield-sandbox/client')],
  ])('can be %s', async (_, load: () => Promise<typeof client>) => {
    const { connectSandbox, ControlError } = await load()
    const sandbox = await connectSandbox(addressOf(started))
    expect(await sandbox.chain.getChainId()).toBe(31337)
    await expect(connectSandbox({ url: 'nowhere://' })).rejects.toBeInstanceOf(ControlError)
  })

  test('refuses what only Node can do, and names that it does not know', async () => {
    const { connectSandbox } = require('yield-sandbox/client') as typeof client
    const wish = (more: object) => connectSandbox({ ...addressOf(started), ...more })
    await expect(wish({ ca: 'PEM' })).rejects.toThrow(
      /fetch alone cannot trust .* import connectSandbox from 'yield-sandbox'/,
    )
    await expect(wish({ namespase: 'x' })).rejects.toThrow('did you mean "namespace"?')
  })
})
