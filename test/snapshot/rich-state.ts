import type { SandboxHandle } from '../../src/index.ts'
import { revokeAllowance } from '../helpers/on-chain.ts'
import { type Answer, Partner } from '../helpers/partner.ts'

/** Where the business time of a {@link richState} begins. */
export const BEGINNING = '2030-01-01T00:00:00Z'

/** Its Idempotency-Keys. */
export const KEYS = {
  first: '11111111-1111-4111-8111-111111111111',
  second: '22222222-2222-4222-8222-222222222222',
  third: '44444444-4444-4444-8444-444444444444',
  reverts: '33333333-3333-4333-8333-333333333333',
}

/** A request that was answered, and what it was answered with. */
export interface Answered {
  ask(partner: Partner): Promise<Answer>
  answer: Answer
}

/** Gives a sandbox a history: several end users, both protocols, yields, withdrawals, a transfer that reverted, and blocks long past. */
export async function richState(sandbox: SandboxHandle): Promise<Answered[]> {
  const partner = new Partner(sandbox)
  const answered: Answered[] = []
  const carryOut = async (ask: Answered['ask']) => {
    answered.push({ ask, answer: await ask(partner) })
  }
  const [zoe, yan] = [await partner.open('zoe'), await partner.open('yan', 'morpho-usdc', 'Holidays')]
  await carryOut((one) => one.deposit('zoe', zoe, '250000000', { key: KEYS.first }))
  await carryOut((one) => one.deposit('yan', yan, '990000001', { key: KEYS.first }))
  await sandbox.chain.mine({ blocks: 150 })
  await sandbox.clock.advance('30d')
  await carryOut((one) => one.withdraw('zoe', zoe, '50000000', { key: KEYS.second }))
  const { token_address, market_address } = await partner.pool('aave-usdc')
  const owner = (await partner.post('end_users', { external_id: 'zoe' })).body.wallet_address
  await sandbox.clock.advance('30d')
  await revokeAllowance(sandbox, token_address!, owner, market_address!)
  await carryOut((one) => one.deposit('zoe', zoe, '1000000', { key: KEYS.reverts }))
  await carryOut((one) => one.deposit('yan', yan, '3', { key: KEYS.third }))
  return answered
}

/** All that the API and the RPC show of the end users of a {@link richState}, alice included, as text. */
export async function shownBy(sandbox: SandboxHandle): Promise<string> {
  const partner = new Partner(sandbox)
  const { now, frozen } = await sandbox.clock.state()
  const shown: unknown[] = [(await partner.get('pools')).body, now, frozen]
  for (const user of ['alice', 'zoe', 'yan']) {
    const portfolios = (await partner.get(`end_users/${user}/portfolios`)).body
    const transactions = (await partner.get(`end_users/${user}/transactions`)).body
    shown.push(portfolios, transactions)
    for (const { tx_hash } of transactions.data as { tx_hash: `0x${string}` }[]) {
      const [receipt, transaction] = await Promise.all([
        rpc<{ blockNumber: string }>(sandbox, 'eth_getTransactionReceipt', tx_hash),
        rpc(sandbox, 'eth_getTransactionByHash', tx_hash),
      ])
      shown.push(receipt, transaction, await rpc(sandbox, 'eth_getBlockByNumber', receipt.blockNumber, false))
    }
  }
  return JSON.stringify(shown, null, 1)
}

async function rpc<T>(sandbox: SandboxHandle, method: string, ...params: unknown[]): Promise<T> {
  return (await sandbox.chain.request({ method, params } as never)) as T
}
