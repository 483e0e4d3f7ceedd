import { expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Chain, Chains, MinedTransfer } from '../../src/domain/ports/chain.ts'
import type { EndUser, Portfolio } from '../../src/domain/records.ts'
import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import { Transfers } from '../../src/domain/transfers.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { recordedLog } from '../auth/partner.ts'
import { moment, portfolio } from '../store/samples.ts'

/** A chain that takes more shares out than a portfolio has, which no market does, and how often it was asked for a transfer. */
function workbench() {
  const state = { asked: 0, shares: 101n }
  const chain = {
    async transfer({ signed, storeSigned }) {
      state.asked++
      const transaction = { tx_hash: '0x02', raw_transaction: '0x', block_timestamp: 0 } as const
      await storeSigned([signed({ ...transaction, amount: 55n, value_before: 110n }, 0)])
      const block = { block_number: 7, block_timestamp: 0, status: 'success' } as const
      return { ...block, tx_hash: '0x02', amount: 55n, shares: state.shares, value_before: 110n } as MinedTransfer
    },
    values: async () => [56n],
  } as Partial<Chain> as Chain
  return { state, chain }
}

test('a portfolio with a transfer that cannot be booked takes no other one, until a reset', async () => {
  const { state, chain } = workbench()
  const store = await createStore()
  const put = async (jar: Portfolio) => store.commit([{ collection: 'portfolios', put: jar }])
  await put(portfolio('jar_1', { deposited: '100', shares: '100' }))
  await put(portfolio('jar_2', { deposited: '200', shares: '200' }))
  let ids = 0
  const deps = {
    store,
    clock: new SandboxClock(Date.parse(moment(9))),
    chains: { get: () => chain } as Partial<Chains> as Chains,
    portfolios: { require: (_user: EndUser, id: string) => store.get('portfolios', id) },
    showings: { of: () => ({ last_transaction_id: 'none' }) },
    ids: { next: () => `txn_${++ids}` },
    settings: DEFAULT_SETTINGS,
    confirmationDelay: { min: 0, max: 0 },
    generation: () => new AbortController().signal,
    respond: () => ({ status: 200, body: {} }),
    log: recordedLog(),
  }
  const transfers = new Transfers(deps as unknown as ConstructorParameters<typeof Transfers>[0])
  const withdraw = (portfolio_id: string) => {
    const user = { id: 'alice' } as EndUser
    return transfers.run({ type: 'withdrawal', user, portfolio_id, amount: 55n, onPhase: async () => {} })
  }
  const broken = 'shares of portfolio jar_1 must be 0 or more; found -1'
  await expect(withdraw('jar_1')).rejects.toThrow(broken)
  expect(state.asked).toBe(1)
  // Under the same key or another, the money would leave once more.
  await expect(withdraw('jar_1')).rejects.toThrow(broken)
  expect(state.asked).toBe(1)
  await expect(withdraw('jar_2')).resolves.toMatchObject({ status: 200 })
  transfers.beginAnew()
  state.shares = 50n
  await expect(withdraw('jar_1')).resolves.toMatchObject({ status: 200 })
})
