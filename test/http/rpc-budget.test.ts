import { numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testSandbox } from '../helpers/partner.ts'
import { asker, CALLS, CODED, ENDLESS, holdBudgets } from './rpc-budgets.ts'

// In a container as well, with more transactions, thousands of blocks or accounts and a call that has to be waited for: rpc-budget.long.test.ts.
holdBudgets('on loopback', '127.0.0.1', { bombs: 4, reads: false })

describe('on loopback alone', () => {
  let sandbox: SandboxHandle
  let url: string
  beforeAll(async () => {
    sandbox = await testSandbox()
    url = (await sandbox.credentials()).rpc_urls['31337']!
  })
  afterAll(() => sandbox.stop())
  const ask = asker(() => url)

  test('traces have less gas, no single steps and no programs of others', async () => {
    const { result } = await ask('debug_traceCall', { data: ENDLESS, gas: '0xfffffff' }, 'latest', {
      tracer: 'callTracer',
    })
    expect(Number(result.gasUsed)).toBe(1_000_000)
    for (const options of [undefined, {}, { enableMemory: true }, [], { tracer: null }]) {
      const { error } = await ask('debug_traceCall', { data: ENDLESS }, 'latest', options)
      expect(error).toMatchObject({ code: -32005, message: expect.stringContaining('callTracer') })
    }
    const hash = `0x${'1'.repeat(64)}`
    for (const method of ['debug_traceCall', 'debug_traceTransaction', 'debug_traceBlockByHash']) {
      const { error } = await ask(method, hash, { tracer: 'while (true) {}' }, { tracer: 'while (true) {}' })
      expect(error).toMatchObject({ code: -32005, message: expect.stringContaining('JavaScript') })
    }
  })

  test.each([
    ['anvil_mine', ['0xf4240', '0x1']],
    ['anvil_mine', ['0x3e9', '0x0']],
    ['anvil_mine', [['0x1']]],
    ['hardhat_mine', [1_001]],
    ['evm_mine', [{ blocks: 1_001 }]],
    ['evm_mine', [[null, 1_001]]],
    ['anvil_mine_detailed', [{ blocks: 1_001 }]],
    ['evm_mine_detailed', [{ timestamp: 0, blocks: '0x3e9' }]],
    ['anvil_mine', ['0x1', `0x1${'0'.repeat(20)}`]],
    ['evm_mine', [`0x1${'0'.repeat(20)}`]],
  ])('%s %j is refused', async (method, params) => {
    const height = async () => Number((await ask('eth_blockNumber')).result)
    const before = await height()
    expect((await ask(method, ...params)).error).toMatchObject({ code: -32602 })
    expect((await height()) - before).toBeLessThan(1_000) // the sandbox itself may have mined one
  })

  test('so many blocks can be mined at once, however they are asked for', async () => {
    const before = Number((await ask('eth_blockNumber')).result)
    expect((await ask('anvil_mine', '0x3', '0xa')).error).toBeUndefined()
    await ask('evm_increaseTime', 60)
    expect((await ask('anvil_mine', '0x3e9')).error).toMatchObject({ code: -32602 })
    expect((await ask('evm_mine', { timestamp: null, blocks: 4 })).error).toBeUndefined()
    expect(Number((await ask('eth_blockNumber')).result)).toBe(before + 7)
  })

  test('transactions without gas have what is estimated, or the most they may have', async () => {
    const [from] = (await ask('eth_accounts')).result
    const terms = { from, gasPrice: '0x0' }
    const plain = (await ask('eth_sendTransaction', { ...terms, to: CODED })).result
    const failing = (await ask('eth_sendTransaction', { ...terms, data: ENDLESS })).result
    const filled = (await ask('eth_fillTransaction', { ...terms, data: ENDLESS })).result
    await ask('evm_mine')
    const gasOf = async (hash: string) => Number((await ask('eth_getTransactionByHash', hash)).result.gas)
    expect(await gasOf(plain)).toBe(21_000)
    expect(await gasOf(failing)).toBe(2 ** 24)
    expect(Number(filled.tx.gas)).toBe(2 ** 24)
    const { error } = await ask('eth_sendTransaction', { ...terms, to: CODED, gas: '0x1000001' })
    expect(error).toMatchObject({ code: -32005 })
    for (const gas of ['0x', 1.5, 'many', -1, {}, '9'.repeat(100_000)]) {
      for (const method of ['eth_sendTransaction', 'eth_sendTransactionSync']) {
        expect((await ask(method, { ...terms, to: CODED, gas })).error).toMatchObject({ code: -32602 })
      }
    }
  })

  test('a trace of a transaction has no single steps, and as many calls as fit into 4,000,000 gas', async () => {
    const [from] = (await ask('eth_accounts')).result
    const mined = async (code: string, gas: number) => {
      await ask('anvil_setCode', CODED, code)
      const { result } = await ask('eth_sendTransaction', { from, to: CODED, gas: numberToHex(gas) })
      await ask('evm_mine')
      return result
    }
    const endless = await mined(ENDLESS, 2 ** 24)
    const steps = await ask('trace_replayBlockTransactions', 'latest', ['trace', 'vmTrace'])
    expect(steps.error).toMatchObject({ code: -32005, message: expect.stringContaining('single steps') })
    const { hash } = (await ask('eth_getBlockByNumber', 'latest', false)).result
    for (const [method, subject] of [
      ['debug_traceTransaction', endless],
      ['debug_traceBlockByNumber', 'latest'],
      ['debug_traceBlockByHash', hash],
    ]) {
      const { error } = await ask(method, subject, { tracer: 'callTracer' })
      expect(error).toMatchObject({ code: -32005, message: expect.stringContaining('16777216 gas, and 4000000') })
    }
    expect((await ask('trace_transaction', endless)).result).toHaveLength(1)
    const calling = await mined(CALLS, 1_000_000)
    const { result } = await ask('debug_traceTransaction', calling, { tracer: 'callTracer' })
    expect(result.calls.length).toBeGreaterThan(5_000)
    expect(await ask('debug_traceTransaction', `0x${'1'.repeat(64)}`)).toHaveProperty('error')
  })
})
