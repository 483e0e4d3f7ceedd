import { afterAll, beforeAll, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testNamespace } from '../helpers/partner.ts'
import { shownAsRead } from './shown-as-read.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testNamespace()
})
afterAll(() => sandbox.stop())

test.each(['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth'])(
  'total_balance of %s is what a plain client reads at the latest block, frozen or running',
  (poolId) => shownAsRead(sandbox, poolId, 20),
)
