import { describe, test } from 'vitest'
import { crossEachOther, depositAtOnce, openEachTime } from './transfers-at-once.ts'

openEachTime()
describe('200 concurrent transfers on 50 portfolios', () => {
  test('deposits all succeed, once each, and the ledger is the chain', () => depositAtOnce(10))

  test('deposits and withdrawals that cross each other keep the ledger sound', () => crossEachOther(10))
})
