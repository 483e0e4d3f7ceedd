import { keccak256, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON-RPC answers of every shape
export type Any = any

export const CODED = '0x00000000000000000000000000000000000000aa'
/** Loops for ever. */
export const ENDLESS = '0x5b600056'
/** Returns the gas it has: GAS PUSH0 MSTORE, RETURN the word. */
export const GAS_LEFT = '0x5a5f5260205ff3'
/** Returns 256 MiB, and 4 MiB of zeros. */
export const RETURNS_256_MIB = '0x63100000005ff3'
export const RETURNS_4_MIB = '0x624000005ff3'
/** Logs nothing, again and again, until 1 M gas is left. */
export const LOGS = '0x5b5f5fa05a620f424010600057'
/** Hashes 64 KiB 3,600 times, so that it needs all of 45 M gas: an estimate tries that again and again. */
export const HASHES = '0x610e105b620100005f205060019003806003' + '5700'
/** Calls an account without code, again and again, until 20,000 gas are left. */
export const CALLS = '0x5b5f5f5f5f60bb5afa505a614e2010600057'
/** Asks for the balances of so many accounts that nobody asked for before. */
export const readsAccounts = (from: number, count: number) =>
  `0x62${numberToHex(from).slice(2)}5b6001018031508062${numberToHex(from + count).slice(2)}1160045700`
/** As eth_call takes it: the code stands at an address for this call. */
export const at = (code: string) => ({ [CODED]: { code } })

/** The first of Anvil's own accounts. */
export const DEV = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** Typed data of so many structs, each of which holds the next one so often. */
export function typed(structs: number, times: number) {
  const membersOf = (index: number) =>
    Array.from({ length: times }, (_, member) => ({ name: `m${member}`, type: `S${index + 1}` }))
  const types = Object.fromEntries(Array.from({ length: structs }, (_, index) => [`S${index}`, membersOf(index)]))
  return { domain: {}, primaryType: 'S0', message: {}, types: { EIP712Domain: [], ...types, [`S${structs}`]: [] } }
}

export const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })

export async function post(url: string, body: unknown, signal?: AbortSignal): Promise<{ status: number; body: Any }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** Makes single calls at an address, which is known by then; their answers are whole. */
export const asker =
  (url: () => string) =>
  async (method: string, ...params: unknown[]): Promise<Any> =>
    (await post(url(), call(method, ...params))).body

/**
 * What a sandbox that listens there lets one ask of its chain, and how much of it. `bombs`: transactions that use all gas they may have; `reads`: a call
 * that reads too many accounts as well.
 */
export function holdBudgets(where: string, host: string, { bombs, reads }: { bombs: number; reads: boolean }): void {
  describe(where, () => {
    let sandbox: SandboxHandle
    let url: string
    let partner: Partner
    let portfolio: string
    beforeAll(async () => {
      sandbox = await testSandbox({ host })
      url = (await sandbox.credentials()).rpc_urls['31337']!
      partner = new Partner(sandbox)
      portfolio = await partner.open('alice')
    })
    afterAll(() => sandbox.stop())
    const ask = asker(() => url)

    test.each([undefined, null, '0xffffffffffffffff', 2 ** 40, '99999999999999'])(
      'a call with the gas %j has 50,000,000',
      async (gas) => {
        for (const overrides of [undefined, { gasLimit: '0xffffffffff' }]) {
          const { result } = await ask('eth_call', { to: CODED, gas }, 'latest', at(GAS_LEFT), overrides)
          expect(Number(result)).toBeGreaterThan(49_900_000)
          expect(Number(result)).toBeLessThanOrEqual(50_000_000)
        }
      },
    )

    test('a call with less gas keeps it, and one with what is no quantity is refused', async () => {
      expect(
        Number((await ask('eth_call', { to: CODED, gas: '0xf4240' }, 'latest', at(GAS_LEFT))).result),
      ).toBeLessThan(1e6)
      for (const gas of ['0b1111', 'much', 1.5, -1, {}, '']) {
        const { error } = await ask('eth_call', { to: CODED, gas }, 'latest')
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('gas') })
      }
    })

    test('all calls of a simulation share the gas of one', async () => {
      const calls = [1, 2, 3, 4].map(() => ({ to: CODED, gas: '0xffffffffff' }))
      const block = { stateOverrides: at(GAS_LEFT), calls: calls.slice(2) }
      const { result } = await ask('eth_simulateV1', { blockStateCalls: [block, block] }, 'latest')
      const each = result.flatMap((simulated: Any) => simulated.calls.map(({ returnData }: Any) => Number(returnData)))
      expect(each).toHaveLength(4)
      for (const gas of each) expect(gas).toBeLessThanOrEqual(12_500_000)
      // Anvil takes lists in place of objects.
      for (const payload of [
        [[[null, at(GAS_LEFT), calls]], false],
        { blockStateCalls: [[null, null, calls]] },
        null,
      ]) {
        expect((await ask('eth_simulateV1', payload, 'latest')).error).toMatchObject({ code: -32602 })
      }
      const many = { blockStateCalls: [{ calls: Array.from({ length: 1_001 }, () => ({ to: CODED })) }] }
      expect((await ask('eth_simulateV1', many)).error).toMatchObject({ code: -32005 })
    })

    test('an endless call ends, while deposits go on', async () => {
      const endless = call('eth_call', { data: ENDLESS, gas: '0xffffffffffffffff' }, 'latest')
      const other = call('eth_createAccessList', { data: ENDLESS }, 'latest')
      const [deposit, ...answers] = await Promise.all([
        partner.deposit('alice', portfolio, '1000'),
        post(url, endless),
        post(url, [endless, other, endless]),
      ])
      expect(deposit.status).toBe(200)
      expect(answers[0]?.body.error.message).toContain('OutOfGas')
      expect(answers[1]?.body.map(({ error }: Any) => error.message)).toEqual(Array(3).fill('EVM error OutOfGas'))
    })

    if (reads) {
      test('a call that reads thousands of accounts ends, and goes on where it ended', async () => {
        const reading = call('eth_call', { to: CODED }, 'latest', at(readsAccounts(0x100000, 6_000)))
        const [deposit, first] = await Promise.all([partner.deposit('alice', portfolio, '1000'), post(url, reading)])
        expect(deposit.status).toBe(200)
        // Whichever limit it reaches first; test/chain/fetch-budget.test.ts has that of the number without the time.
        expect(first.body.error.message).toMatch(
          /not fetched: a call reads at most 5000 accounts and slots|no answer within 4 s/,
        )
        await expect.poll(async () => (await post(url, reading)).body.result).toBe('0x')
        expect((await partner.deposit('alice', portfolio, '1000')).status).toBe(200)
      })
    }

    test('a call that would return 256 MiB does not', async () => {
      const answer = await post(
        url,
        call('eth_call', { to: CODED, gas: '0xffffffffffffffff' }, 'latest', at(RETURNS_256_MIB)),
      )
      expect(answer).toMatchObject({ status: 200, body: { error: { code: -32603 } } })
    })

    test('answers have 25 MB together, and an estimate has an end', async () => {
      const long = call('eth_call', { to: CODED }, 'latest', at(RETURNS_4_MIB))
      const batch = [...Array(5).fill(long), call('eth_chainId'), call('eth_getBalance', CODED, 'latest')]
      // On a busy machine the time of a call may end first: then it is asked again.
      await eventually(async () => {
        const { body } = await post(url, batch)
        expect(body.map(({ result, error }: Any) => error?.code ?? result.length)).toEqual([
          ...[8_388_610, 8_388_610, -32005, -32005, -32005, 6, 3],
        ])
        expect(body[2].error.message).toContain('25000000 bytes')
      })
      const logging = Array.from({ length: 10 }, () => ({ to: CODED }))
      const blocks = { blockStateCalls: [{ stateOverrides: at(LOGS), calls: logging }] }
      await expect
        .poll(async () => (await ask('eth_simulateV1', blocks)).error)
        .toMatchObject({ code: -32005, message: expect.stringContaining('25000000 bytes') })
      await expect
        .poll(async () => (await ask('eth_estimateGas', { to: CODED }, 'latest', at(HASHES))).error.message)
        .toContain('16777216')
    })

    test('a batch has 1,000 calls', async () => {
      const calls = Array.from({ length: 1_000 }, (_, id) => ({ ...call('eth_call', { to: CODED }, 'latest'), id }))
      // On a busy machine the time of a call may end first: then the batch is asked again.
      await eventually(async () => {
        const { body } = await post(url, calls)
        expect(body).toEqual(calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x' })))
      })
      expect((await post(url, [...calls, call('eth_chainId')])).body).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: 'more than 1000 calls, the limit of a batch' },
      })
    })

    test('every call of a batch has an error of its own', async () => {
      const { status, body } = await post(url, [
        { ...call('eth_chainId'), id: 1.5 },
        5,
        { ...call('eth_chainId'), id: {} },
        { ...call('eth_getBalance', {}), id: 'object' },
        { ...call('eth_getBalance', 'none'), id: 1e30 },
        { ...call('eth_chainId'), id: 'last' },
      ])
      expect(status).toBe(200)
      expect(body.map(({ id }: Any) => id)).toEqual([1.5, null, null, 'object', 1e30, 'last'])
      expect(body.map(({ error }: Any) => error?.code)).toEqual([undefined, -32600, -32600, -32602, -32602, undefined])
      expect(body[5].result).toBe('0x7a69')
    })

    test('a fee history has 1,024 blocks and 100 percentiles', async () => {
      for (const count of ['0x401', '0xffffffff', `0x${'f'.repeat(40)}`, 2 ** 50]) {
        expect((await ask('eth_feeHistory', count, 'latest', [])).result.gasUsedRatio.length).toBeLessThanOrEqual(1_024)
      }
      expect((await ask('eth_feeHistory', '0x1', 'latest', Array(101).fill(1))).error).toMatchObject({ code: -32005 })
    })

    test.runIf(host === '127.0.0.1')('a search backwards begins at the last block', async () => {
      const search = (before: unknown) => ask('ots_searchTransactionsBefore', `0x${'1'.repeat(40)}`, before, 5)
      // From a block far ahead, the node would look for every one between, for ever.
      for (const before of [0, 1e9, Number.MAX_SAFE_INTEGER, '0xffffffffffffffff']) {
        expect((await search(before)).result).toMatchObject({ firstPage: true, receipts: [], txs: [] })
      }
      for (const before of [{ toString: null, valueOf: null }, [1e12], 'x']) {
        expect((await search(before)).error).toMatchObject({ code: -32602 })
      }
      expect((await ask('eth_chainId')).result).toBe('0x7a69')
    })

    test('in a batch, too: a fee history of more blocks than a number holds ends an Anvil', async () => {
      const counts = [`0x${'f'.repeat(64)}`, '0xffffffffffffffff']
      const { body } = await post(url, [
        call('eth_chainId'),
        ...counts.map((count) => call('eth_feeHistory', count, 'latest', [])),
        call('eth_fillTransaction', { to: `0x${'1'.repeat(40)}` }),
        call('eth_blockNumber'),
      ])
      expect(body.map(({ error }: Any) => error)).toEqual(Array(5).fill(undefined))
      expect(body[3].result.tx).toMatchObject({ maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' })
      expect((await ask('eth_chainId')).result).toBe('0x7a69')
    })

    test('so many slots can be asked for at once', async () => {
      const slots = Array.from({ length: 1_025 }, (_, slot) => numberToHex(slot, { size: 32 }))
      // On a busy machine the time of a call may end first: then it is asked again.
      const error = async (...given: Parameters<typeof ask>) => (await ask(...given)).error
      await expect.poll(() => error('eth_getStorageValues', { [CODED]: slots.slice(1) }, 'latest')).toBeUndefined()
      expect((await ask('eth_getStorageValues', { [CODED]: slots }, 'latest')).error).toMatchObject({ code: -32005 })
      await expect.poll(() => error('eth_getProof', CODED, slots.slice(1), 'latest')).toBeUndefined()
      expect((await ask('eth_getProof', CODED, slots, 'latest')).error).toMatchObject({ code: -32005 })
    })

    // The node writes out each struct wherever it is named: these fill its memory, or its stack.
    test.runIf(host === '127.0.0.1').each([
      ['structs that hold the next one twice', typed(40, 2)],
      ['the same, as text', JSON.stringify(typed(40, 2))],
      ['a chain of structs', typed(20_000, 1)],
      ['arrays of arrays', { ...typed(0, 0), types: { S0: [{ name: 'a', type: `uint8${'[]'.repeat(100_000)}` }] } }],
    ])('typed data has so many members: %s', async (_, data) => {
      const message = expect.stringMatching(/more than 1000 members/)
      expect((await ask('eth_signTypedData_v4', DEV, data)).error).toMatchObject({ code: -32005, message })
      const { body } = await post(url, [call('eth_chainId'), call('eth_signTypedData_v4', DEV, data)])
      expect(body).toMatchObject([{ result: '0x7a69' }, { error: { code: -32005 } }])
    })

    test.runIf(host === '127.0.0.1')(
      'typed data with fewer is signed, and circles are refused by the node',
      async () => {
        const circle = { ...typed(0, 0), types: { S0: [{ name: 'a', type: 'S0' }] } }
        expect((await ask('eth_signTypedData_v4', DEV, circle)).error.message).toMatch(/circular/)
        const message = { m0: { m0: {}, m1: {} }, m1: { m0: {}, m1: {} } }
        const answer = await ask('eth_signTypedData_v4', DEV, { ...typed(2, 2), message })
        expect(answer.result).toMatch(/^0x[0-9a-f]{130}$/)
      },
    )

    test('a filter beyond 256 takes the place of the one that was not asked for longest', async () => {
      const [first, second] = [(await ask('eth_newBlockFilter')).result, (await ask('eth_newBlockFilter')).result]
      const make = Array.from({ length: 255 }, () => call('eth_newPendingTransactionFilter'))
      await ask('eth_getFilterChanges', first)
      const { body } = await post(url, make)
      expect((await ask('eth_getFilterChanges', second)).error).toMatchObject({ message: 'filter not found' })
      expect((await ask('eth_getFilterChanges', first)).result).toEqual(expect.any(Array))
      expect((await ask('eth_getFilterChanges', body.at(-1).result)).result).toEqual(expect.any(Array))
    })

    describe('transactions of others', () => {
      const outsider = privateKeyToAccount(`0x${'43'.repeat(32)}`)
      const terms = { type: 'eip1559', chainId: 31337, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
      const bomb = (nonce: number, gas = 16_000_000n) =>
        outsider.signTransaction({ ...terms, nonce, gas, data: ENDLESS })

      test('have the gas that mainnet allows', async () => {
        const { error } = await ask('eth_sendRawTransaction', await bomb(0, 16_777_217n))
        expect(error).toMatchObject({ code: -32005, message: expect.stringContaining('16777216 gas') })
      })

      test('have at most 1 MiB', async () => {
        for (const method of [
          'eth_sendRawTransaction',
          ...(host === '0.0.0.0' ? [] : ['eth_sendRawTransactionSync']),
        ]) {
          const { error } = await ask(method, `0x${'ab'.repeat(4_500_000)}`)
          expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('1 MiB') })
        }
      })

      test('leave room for deposits, and are mined one after another', async () => {
        const signed = await Promise.all(Array.from({ length: bombs }, (_, nonce) => bomb(nonce)))
        const sending = post(
          url,
          signed.map((raw) => call('eth_sendRawTransaction', raw)),
        )
        for (let round = 0; round < 3; round++) {
          expect((await partner.deposit('alice', portfolio, '1000')).status).toBe(200)
        }
        const answers = (await sending).body
        const blocks = new Set<string>()
        for (const [i, raw] of signed.entries()) {
          const { result, error } = answers[i]
          const hash = keccak256(raw)
          // The time of a call may end first on a busy machine: then it is sent again, which does nothing if it was carried out.
          if (error) expect(error.message).toContain('no answer within 4 s')
          else expect(result).toBe(hash)
          const blockOf = async () => {
            if (error) await ask('eth_sendRawTransaction', raw)
            return (await ask('eth_getTransactionReceipt', hash)).result.blockNumber
          }
          blocks.add(await eventually(blockOf))
        }
        expect(blocks.size).toBe(bombs)
      })

      test('that cannot be mined yet do not pile up', async () => {
        const answers = [await ask('eth_sendRawTransaction', await bomb(50))]
        answers.push(await ask('eth_sendRawTransaction', await bomb(51)))
        expect(answers[0].error).toBeUndefined()
        expect(answers[1].error).toMatchObject({
          code: -32005,
          message: expect.stringContaining('cannot be mined yet'),
        })
      })
    })
  })
}
