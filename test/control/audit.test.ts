import { randomUUID } from 'node:crypto'
import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, test, vi } from 'vitest'
import type { Hex } from '../../src/domain/records.ts'
import {
  audit,
  busy,
  change,
  clock,
  DAY,
  detail,
  expectSound,
  failing,
  ledger,
  open,
  openEachTime,
  openOnce,
  POOLS,
  parts,
  portfolio,
  store,
} from './audited.ts'

async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
  const [chain] = parts().chains.all()
  const text = await chain!.relay({ jsonrpc: '2.0', id: 1, method, params })
  const answer = JSON.parse(text ?? '') as { result: T; error?: { message: string } }
  if (answer.error) throw new Error(answer.error.message)
  return answer.result
}

describe('a sound sandbox', () => {
  openOnce()

  test('as the fixture leaves it', async () => {
    await expectSound()
  })

  test('after yield, withdrawals in part and in full, reverted transactions and replaced blocks', async () => {
    const jars = await busy()
    const [first, second, vault, weth] = jars as [string, string, string, string]
    for (const jar of [first, vault, weth])
      expect((await open.acme.withdraw('carol', jar, '5000000000')).status).toBe(200)
    clock().advance(200 * DAY)
    for (const jar of [second, vault]) {
      const { data } = (await open.acme.get('end_users/carol/portfolios')).body
      const { total_balance } = data.find(({ portfolio_id }: { portfolio_id: string }) => portfolio_id === jar)
      expect((await open.acme.withdraw('carol', jar, total_balance)).body).toMatchObject({ total_balance: '0' })
    }
    for (const kind of ['revert', 'reorg']) {
      open.sandbox.namespace.services.faults.add([{ kind, times: 2 }], [])
      for (const jar of [first, vault]) {
        const { status } = await open.acme.deposit('carol', jar, '900001')
        expect(status).toBe(kind === 'revert' ? 422 : 200)
      }
    }
    const key = randomUUID()
    for (let i = 0; i < 2; i++) await open.acme.deposit('carol', first, '77', { key })
    const report = await expectSound()
    const { body } = await open.acme.get('end_users/carol/transactions')
    expect(body.data).toHaveLength(5 + 3 + 2 + 2 + 1)
    expect(body.data[0]).not.toHaveProperty('idempotency_id')
    expect(detail(report, 'hashes')).toMatch(/^1[3-9] transactions/)
    expect(detail(report, 'idempotency')).toMatch(/^13 Idempotency-Keys/)
    expect(detail(report, 'transfers')).toMatch(/^0 transfers under way/)
  })

  test('when a key is used again after it was forgotten', async () => {
    const [jar] = (await busy()) as [string]
    const key = randomUUID()
    for (let i = 0; i < 2; i++) {
      expect((await open.acme.deposit('carol', jar, '1000', { key })).headers.get('idempotency-key-replay')).toBe(
        'false',
      )
      clock().advance(2 * DAY)
    }
    await expectSound()
  })

  test('while a transfer waits for its confirmation: its end user is named, not compared with the chain', async () => {
    const [jar] = (await busy()) as [string]
    const held = open.acme.deposit('carol', jar, '1000', {
      headers: { 'x-sandbox-fault': 'slow_confirmation; delay=8d' },
    })
    await expect.poll(() => ledger.unsettled()).toBe(1)
    const report = await expectSound()
    expect(detail(report, 'transfers')).toMatch(/^1 transfers under way.*; 1 not compared .*: carol \(acme\)$/)
    clock().advance(8 * DAY)
    expect((await held).status).toBe(200)
    expect(detail(await expectSound(), 'transfers')).not.toContain('carol')
  })

  test('while transfers come and go and blocks are replaced: no false alarm', async () => {
    const compared = async () => Number.parseInt(detail(await expectSound(), 'shares'), 10)
    const others = await compared()
    const users = Array.from({ length: 6 }, (_, i) => `user-${i}`)
    const jars = await Promise.all(
      users.flatMap((user) => POOLS.map((pool) => open.acme.open(user, pool).then((jar) => ({ user, jar })))),
    )
    await Promise.all(jars.map(({ user, jar }) => open.acme.deposit(user, jar, '9000000')))
    let running = true
    // Every end user has a transfer under way now and again, and three at most have one at a time.
    const traffic = [0, 1, 2].map(async (start) => {
      for (let n = start; running; n += 7) {
        const { user, jar } = jars[n % jars.length]!
        if (n % 31 === 0) open.sandbox.namespace.services.faults.add([{ kind: 'reorg' }], [])
        const headers = { 'x-sandbox-fault': n % 9 === 0 ? 'revert' : null }
        const move = n % 3 ? open.acme.deposit : open.acme.withdraw
        await move.call(open.acme, user, jar, '20001', { headers })
        if (n % 4 === 0) clock().advance(60_000)
      }
    })
    const seen: number[] = []
    try {
      for (let i = 0; i < 5; i++) seen.push(await compared())
    } finally {
      running = false
      await Promise.all(traffic)
    }
    expect(Math.max(...seen), 'some of those with traffic were compared').toBeGreaterThan(others)
    expect(await compared()).toBeGreaterThanOrEqual(Math.max(...seen))
  })
})

describe('gifts of somebody else', () => {
  openOnce()

  const TOKEN = parseAbi(['function transfer(address to, uint256 amount)'])
  const APPROVE = parseAbi(['function approve(address spender, uint256 amount)'])
  const AAVE = parseAbi(['function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)'])
  const VAULT = parseAbi(['function deposit(uint256 assets, address receiver)'])
  const MUCH = 1_000_000_000n
  type Call = [to: string, data: Hex]

  /** Sends as the first of Anvil's own accounts, of which the service knows nothing. */
  async function send(...calls: Call[]) {
    const [from = ''] = await rpc<string[]>('eth_accounts')
    const [token] = calls.map(([to]) => to)
    await rpc('anvil_dealERC20', from, token, `0x${MUCH.toString(16)}`)
    for (const [to, data] of calls) {
      const receipt = await rpc<{ status: Hex }>('eth_sendTransactionSync', { from, to, data })
      expect(receipt.status).toBe('0x1')
    }
  }
  const give = (token: string, to: string): Call => [
    token,
    encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [to as Hex, MUCH] }),
  ]
  const approve = (token: string, spender: string): Call => [
    token,
    encodeFunctionData({ abi: APPROVE, functionName: 'approve', args: [spender as Hex, MUCH] }),
  ]

  test('to a wallet, in tokens and in shares of both protocols: named, and nothing is wrong', async () => {
    const [first, , vault] = (await busy()) as [string, string, string]
    const carol = (await ledger.users()).find(({ external_id }) => external_id === 'carol')!
    const { wallet_address } = carol
    const usdc = await portfolio(first)
    const { market_address: morpho } = await portfolio(vault)
    const supply = {
      abi: AAVE,
      functionName: 'supply',
      args: [usdc.token_address, 70_000n, wallet_address, 0],
    } as const
    const deposit = { abi: VAULT, functionName: 'deposit', args: [90_000n, wallet_address] } as const
    const transfer = { abi: TOKEN, functionName: 'transfer', args: [wallet_address, 50_000n] } as const
    await send(
      [usdc.token_address, encodeFunctionData(transfer)],
      approve(usdc.token_address, usdc.market_address),
      [usdc.market_address, encodeFunctionData(supply)],
      approve(usdc.token_address, morpho),
      [morpho, encodeFunctionData(deposit)],
    )
    const report = await expectSound()
    expect(detail(report, 'wallets')).toMatch(/; 1 gift: 50000 minor units of USDC to the wallet of carol \(acme\)$/)
    expect(detail(report, 'shares')).toMatch(
      /; 2 gifts: \d+ shares in aave-usdc to the wallet of carol \(acme\); \d+ shares in morpho-usdc to the wallet of/,
    )
    expect((await open.acme.withdraw('carol', first, '5000000000')).status).toBe(200)
    expect((await open.acme.withdraw('carol', vault, '5000000000')).status).toBe(200)
    clock().advance(30 * DAY)
    await expectSound()
  })

  test('to a market: nothing is wrong', async () => {
    const [first, , vault] = (await busy()) as [string, string, string]
    for (const jar of [first, vault]) {
      const { token_address, market_address } = await portfolio(jar)
      await send(give(token_address, market_address))
    }
    await expectSound()
  })

  describe('beside a ledger that is wrong', () => {
    openEachTime()

    test('do not hide money that is missing', async () => {
      const [jar] = (await busy()) as [string]
      const carol = (await ledger.users()).find(({ external_id }) => external_id === 'carol')!
      const { token_address } = await portfolio(jar)
      await send(give(token_address, carol.wallet_address))
      await store().commit([
        change('portfolios', await portfolio(jar), ({ shares }) => ({ shares: `${BigInt(shares) + 9n}` })),
      ])
      expect(failing(await audit())).toEqual(['shares', 'balances'])
    })
  })
})

describe('a chain that was tampered with', () => {
  openEachTime()

  test('a wallet that holds less', async () => {
    const [jar] = (await busy()) as [string]
    const carol = (await ledger.users()).find(({ external_id }) => external_id === 'carol')!
    const { token_address } = await portfolio(jar)
    await rpc('anvil_dealERC20', carol.wallet_address, token_address, '0x5')
    const report = await audit()
    expect(failing(report)).toEqual(['wallets'])
    expect(detail(report, 'wallets')).toMatch(/1 wrong: the wallet of carol \(acme\) holds 5 USDC, by the ledger \d+$/)
  })

  test('shares that were taken', async () => {
    const jars = await busy()
    const carol = (await ledger.users()).find(({ external_id }) => external_id === 'carol')!
    const { market_address, shares } = await portfolio(jars[2]!)
    await rpc('anvil_dealERC20', carol.wallet_address, market_address, `0x${(BigInt(shares) / 2n).toString(16)}`)
    const report = await audit()
    expect(failing(report)).toEqual(['shares', 'balances'])
    expect(detail(report, 'shares')).toContain(
      `carol (acme) in morpho-usdc has ${shares} shares in the ledger, ${BigInt(shares) / 2n} on chain`,
    )
    expect(detail(report, 'balances')).toMatch(/carol \(acme\) in morpho-usdc is shown \d+, worth \d+ on chain/)
  })

  test('a block that somebody wants to take back with a deposit: it stays', async () => {
    const [jar] = (await busy()) as [string]
    const before = await rpc('evm_snapshot')
    await open.acme.deposit('carol', jar, '1000')
    await expect(rpc('evm_revert', before)).rejects.toThrow('POST /_sandbox/reset takes back both')
    await expectSound()
  })
})

describe('a sandbox that cannot be audited', () => {
  openOnce()

  const asked = async () => {
    const response = await fetch(`${open.sandbox.baseUrl}/_sandbox/namespaces/${open.sandbox.namespace.name}/audit`)
    return { status: response.status, ...((await response.json()) as { code: string; detail: string }) }
  }

  test('its chain does not answer: 503, and a report when it does again', async () => {
    const [chain] = parts().chains.all()
    chain!.pause()
    expect(await asked()).toMatchObject({ status: 503, code: 'sandbox_starting', detail: /paused by a fault/ })
    chain!.resume()
    await expectSound()
  })

  test('it is reset meanwhile: 503 or a report of one of the two states', async () => {
    await busy()
    const asks = [asked(), open.sandbox.namespace.reset().then(asked), asked(), asked()]
    for (const { status, code, ...rest } of await Promise.all(asks)) {
      expect([200, 503], JSON.stringify({ code, ...rest })).toContain(status)
      if (status === 503) expect(code).toBe('sandbox_starting')
      else expect(rest).toMatchObject({ ok: true })
    }
    await expectSound()
  })
})

describe('a contract that somebody replaced', () => {
  openEachTime()

  test('is asked, and little is taken of what it returns', async () => {
    const [jar = ''] = await busy()
    const { market_address, token_address } = await portfolio(jar)
    const { services } = open.sandbox.namespace
    const answers: number[] = []
    for (const chain of services.chains.all()) {
      const ask = chain.ask
      vi.spyOn(chain, 'ask').mockImplementation(async (calls) => {
        const found = await ask.call(chain, calls)
        answers.push(JSON.stringify(found).length)
        return found
      })
    }
    // 16 MiB of zeros: to read a few of them took a second, in which nobody else was answered.
    for (const address of [market_address, token_address]) await rpc('anvil_setCode', address, '0x62ffffff6000f3')
    await audit().catch(() => undefined)
    expect(answers.length).toBeGreaterThan(0)
    expect(Math.max(...answers)).toBeLessThan(1_000_000)
  })
})
