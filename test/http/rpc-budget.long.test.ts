import { numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { anvilsOf } from '../helpers/anvils.ts'
import { testSandbox } from '../helpers/partner.ts'
import { asker, CODED, call, holdBudgets, post } from './rpc-budgets.ts'

holdBudgets('in a container', '0.0.0.0', { bombs: 30, reads: true })

describe('on loopback', () => {
  let sandbox: SandboxHandle
  let url: string
  let anvil: number
  beforeAll(async () => {
    const others = anvilsOf(process.pid)
    sandbox = await testSandbox()
    anvil = anvilsOf(process.pid).find((pid) => !others.includes(pid))!
    url = (await sandbox.credentials()).rpc_urls['31337']!
  })
  afterAll(() => sandbox.stop())
  const ask = asker(() => url)

  test('a range of logs has 10,000 blocks', async () => {
    const height = async () => Number((await ask('eth_blockNumber')).result)
    await expect.poll(() => ask('anvil_mine', '0x3e8', '0x1').then(height)).toBeGreaterThan(11_000)
    const latest = await height()
    const range = (from: number, toBlock?: string) => ({ fromBlock: numberToHex(from), ...(toBlock && { toBlock }) })
    for (const method of ['eth_getLogs', 'eth_newFilter']) {
      expect((await ask(method, range(latest - 9_999))).error).toBeUndefined()
      expect((await ask(method, range(latest - 9_999, '0xffffffffffffff'))).error).toBeUndefined()
      for (const filter of [range(latest - 10_000), { fromBlock: 'earliest' }, range(0, '0xffffffffffffff')]) {
        const { error } = await ask(method, filter)
        expect(error).toMatchObject({ code: -32005, message: expect.stringContaining('10000 blocks') })
      }
    }
  })

  test('a call that is not answered in time is given up, each call for itself', async () => {
    const slow = call('eth_call', { to: CODED }, 'latest')
    process.kill(anvil, 'SIGSTOP')
    // The signal reaches a busy process with a delay: until then it answers.
    const silent = () =>
      post(url, call('eth_chainId'), AbortSignal.timeout(500)).then(
        () => false,
        () => true,
      )
    await expect.poll(silent).toBe(true)
    const answers = await Promise.all([
      post(url, [slow, slow, 7]),
      post(url, [call('eth_chainId'), call('eth_gasPrice')]),
      post(url, call('eth_getBlockByNumber', 'latest', false)),
    ]).finally(() => process.kill(anvil, 'SIGCONT'))
    const late = { error: { code: -32005, message: 'no answer within 4 s, the limit of a call' } }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers.map(({ body }) => body)).toMatchObject([
      [late, late, { error: { code: -32600 } }],
      [late, late],
      late,
    ])
    await expect.poll(async () => (await ask('eth_chainId')).result).toBe('0x7a69')
  })
})
