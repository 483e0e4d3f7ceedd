import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

/** Milliseconds a reset may take, on a machine that is busy as well. */
const RESET_LIMIT = 30_000
export const SOMEBODY = `0x${'5c'.repeat(20)}`
/** Jumps to itself for as long as there is gas. */
export const ENDLESS = '0x5b600056'
export const HUGE = '0xffffffffffffffff'

/** Milliseconds of each; `FIGURES=1` prints what they come to. */
const resets: number[] = []
export let sandbox: SandboxHandle
export let acme: Partner
export let url: string
let aave: string
let token: string
let wallet: string
export let jar: string

/**
 * Every Anvil's method that changes something, with parameters nobody should give. `refused`: it is not offered. `each kind`: it stands for
 * others that break the chain in the same way, in `hostile-methods.test.ts`.
 */
const HOSTILE: readonly (readonly [method: string, params: () => unknown[], mark?: 'refused' | 'each kind'])[] = [
  ['anvil_setChainId', () => [1], 'refused'],
  ['anvil_setRpcUrl', () => ['http://127.0.0.1:1'], 'refused'],
  ['anvil_setNextBlockBaseFeePerGas', () => ['0xffffffffff'], 'refused'],
  ['hardhat_setNextBlockBaseFeePerGas', () => ['0xffffffffff'], 'refused'],
  ['evm_setBlockGasLimit', () => ['0x1'], 'refused'],
  ['anvil_setBlockGasLimit', () => ['0x5208'], 'refused'],
  ['anvil_setCoinbase', () => [SOMEBODY], 'refused'],
  ['hardhat_setCoinbase', () => [SOMEBODY], 'refused'],
  ['anvil_setMinGasPrice', () => ['0xffffffff'], 'refused'],
  ['anvil_setBlockTimestampInterval', () => [86_400], 'refused'],
  ['anvil_removeBlockTimestampInterval', () => [], 'refused'],
  ['hardhat_setPrevRandao', () => [`0x${'1'.repeat(64)}`], 'refused'],
  ['evm_setAutomine', () => [true], 'refused'],
  ['evm_setIntervalMining', () => [1], 'refused'],
  ['anvil_reset', () => [], 'refused'],
  ['anvil_reset', () => [{ forking: { jsonRpcUrl: 'http://127.0.0.1:1' } }], 'refused'],
  ['anvil_rollback', () => [1], 'refused'],
  ['anvil_reorg', () => [2, []], 'refused'],
  ['anvil_loadState', () => ['0x1f8b'], 'refused'],
  ['anvil_setLoggingEnabled', () => [true], 'refused'],
  ['anvil_enableTraces', () => [], 'refused'],
  ['anvil_setCode', () => [aave, '0x'], 'each kind'],
  ['anvil_setCode', () => [aave, ENDLESS]],
  ['anvil_setCode', () => [token, '0x60006000fd']],
  ['anvil_setCode', () => [wallet, ENDLESS], 'each kind'],
  ['anvil_setNonce', () => [wallet, '0x0']],
  ['anvil_setNonce', () => [wallet, '0xfffffffffffffffe']],
  ['anvil_setNonce', () => [wallet, HUGE], 'each kind'],
  ['anvil_setBalance', () => [wallet, `0x${'f'.repeat(64)}`], 'each kind'],
  ['anvil_setStorageAt', () => [token, '0x0', `0x${'f'.repeat(64)}`], 'each kind'],
  ['anvil_dealERC20', () => [wallet, token, `0x${'f'.repeat(64)}`]],
  ['anvil_deal', () => [wallet, '0x0']],
  ['anvil_setERC20Allowance', () => [wallet, aave, token, '0x0']],
  ['anvil_addBalance', () => [wallet, `0x${'f'.repeat(64)}`]],
  ['anvil_dropAllTransactions', () => [], 'each kind'],
  ['anvil_dropTransaction', () => [`0x${'0'.repeat(64)}`]],
  ['anvil_removePoolTransactions', () => [wallet]],
  ['anvil_impersonateAccount', () => [wallet]],
  ['anvil_autoImpersonateAccount', () => [true], 'each kind'],
  ['anvil_impersonateSignature', () => [`0x${'1'.repeat(130)}`, wallet]],
  ['evm_increaseTime', () => ['0xffffffff']],
  ['evm_increaseTime', () => [HUGE], 'each kind'],
  ['evm_setNextBlockTimestamp', () => ['0x174876e800']],
  ['evm_setNextBlockTimestamp', () => [HUGE], 'each kind'],
  ['evm_setNextBlockTimestamp', () => [0]],
  ['evm_setTime', () => [HUGE]],
  ['anvil_setTime', () => ['0x1']],
  ['evm_mine', () => [{ timestamp: '0x174876e800', blocks: 3 }]],
  ['evm_mine', () => [{ timestamp: '0x1fffffffffffff' }]],
  ['evm_mine', () => [HUGE]],
  ['anvil_mine', () => ['0x10', '0xffffffff']],
  ['anvil_mine', () => ['0xf4240', '0x1'], 'each kind'],
  ['anvil_mine', () => [HUGE, HUGE]],
  ['evm_mine_detailed', () => [{ blocks: 100_000 }]],
  ['evm_revert', () => ['0x0'], 'each kind'],
  ['evm_revert', () => ['0x1']],
  ['evm_revert', () => [HUGE]],
  ['anvil_revert', () => ['0x0']],
  ['evm_snapshot', () => []],
  ['eth_sendTransaction', () => [{ from: wallet, to: token, data: '0x', gas: HUGE }], 'each kind'],
  ['eth_sendUnsignedTransaction', () => [{ from: wallet, to: token, nonce: '0x0' }]],
  ['anvil_noSuchMethod', () => [1, 2, 3], 'each kind'],
]

/** Starts the sandbox of a file's tests, and stops it after them. */
export function openHostile(): void {
  beforeAll(async () => {
    sandbox = await testSandbox()
    acme = new Partner(sandbox)
    url = (await sandbox.credentials()).rpc_urls['31337']!
  })
  afterAll(async () => {
    await sandbox.stop()
    const sorted = resets.sort((a, b) => a - b).map(Math.round)
    if (process.env.FIGURES) {
      console.log(
        `${sorted.length} resets: half within ${sorted[sorted.length >> 1]} ms, all within ${sorted.at(-1)} ms`,
      )
    }
  })
}

/** Alice's portfolio in the Aave market, and what her deposits touch. */
export async function prepare(): Promise<void> {
  jar = (await acme.get('end_users/alice/portfolios')).body.data[0].portfolio_id
  const pools = (await acme.get('pools')).body.data
  const pool = pools.find(({ pool_id }: { pool_id: string }) => pool_id === 'aave-usdc')
  aave = pool.market_address
  token = pool.token_address
  wallet = (await acme.post('end_users', { external_id: 'alice' }, { user: null })).body.wallet_address
}

export async function ask(method: string, params: unknown[]) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return { status: response.status, body: (await response.json()) as { error?: { code: number; message: string } } }
}

export async function expectHealed(): Promise<void> {
  const began = performance.now()
  const response = await fetch(`${sandbox.baseUrl}/_sandbox/reset`, { method: 'POST' })
  const took = performance.now() - began
  expect(response.status).toBeLessThan(300)
  expect(took).toBeLessThan(RESET_LIMIT)
  resets.push(took)
  await prepare()
  expect(await ask('eth_chainId', [])).toMatchObject({ body: { result: '0x7a69' } })
  const { status, body } = await acme.deposit('alice', jar, '1000000')
  expect({ status, body }).toMatchObject({ status: 200 })
  expect((await sandbox.chain.getTransactionReceipt({ hash: body.tx_hash })).status).toBe('success')
  const audit = (await (await fetch(`${sandbox.baseUrl}/_sandbox/audit`)).json()) as { checks: { ok: boolean }[] }
  expect(audit.checks.filter(({ ok }) => !ok)).toEqual([])
}

export const REFUSED = HOSTILE.filter(([, , mark]) => mark === 'refused')
export const EACH_KIND = HOSTILE.filter(([, , mark]) => mark === 'each kind')
export const OTHERS = HOSTILE.filter(([, , mark]) => mark === undefined)

const named = (methods: typeof HOSTILE) =>
  methods.map(([method, params]) => [`${method}(${params})`, method, params] as const)

/** Each method, after which a reset leaves nothing of what it did. */
export function healedByReset(methods: typeof HOSTILE): void {
  describe('a reset heals what Anvil was told', () => {
    beforeAll(prepare)
    afterEach(expectHealed)

    test.each(named(methods))('%s', async (_, method, params) => {
      const { status } = await ask(method, params())
      expect([200, 503]).toContain(status)
      // Whatever it did, nobody is told that the sandbox failed.
      for (const answer of [
        await acme.deposit('alice', jar, '2000000'),
        await acme.withdraw('alice', jar, '1000000'),
        await acme.get('end_users/alice/portfolios'),
        await acme.get('pools'),
        await acme.post('end_users', { external_id: `new-${method.replaceAll('_', '-')}` }, { user: null }),
      ]) {
        expect([200, 201, 422, 503], JSON.stringify(answer.body)).toContain(answer.status)
      }
      const audit = await fetch(`${sandbox.baseUrl}/_sandbox/audit`)
      expect([200, 503]).toContain(audit.status)
    })
  })
}
