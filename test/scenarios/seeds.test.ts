import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testSandbox } from '../helpers/partner.ts'
import { getsThrough } from './flaky-client.ts'

// They mostly wait for late answers.
vi.setConfig({ maxConcurrency: 20 })

// More of them: seeds.long.test.ts.
const SEEDS = [1]

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox({ confirmationDelay: 0 })
})
afterAll(() => sandbox.stop())

describe.concurrent('flaky-network: a right client that tries four times gets through, whatever the seed', () => {
  test.each(SEEDS)('%i', (seed) => getsThrough(sandbox, seed))
})
