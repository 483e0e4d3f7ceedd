import { expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { timelinesOf } from '../../../src/verdict/evidence/timelines.ts'
import { shows, uncertainTransfersOf } from '../../../src/verdict/evidence/uncertain-transfers.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, carriedOut, DROPPED, key, list, portfolio, transfer } from '../requests.ts'

const uncertain = (...exchanges: RecordedExchange[]) => uncertainTransfersOf(evidenceOf(exchanges))
const dropped = transfer(1, 0, { ...DROPPED, ...carriedOut('tx_a') })

test('is one for each operation that had no answer once', () => {
  expect(uncertain(transfer(1, 0), portfolio(2, 10, DROPPED), list(20, [], DROPPED))).toEqual([])
  const [one, ...others] = uncertain(transfer(1, 0, answered(429)), transfer(1, 10, DROPPED), transfer(1, 20, DROPPED))
  expect(others).toEqual([])
  expect([one?.first.place, one?.last.place, one?.attempts.length, one?.unanswered]).toEqual([1, 2, 3, true])
  expect(uncertain(transfer(1, 0, answered(504)))[0]?.unanswered).toBe(false)
  expect(uncertain(transfer(1, 0, { ...DROPPED, idempotency: null }))).toEqual([])
})

test('is told by a later answer under its key, unless that came before the key was looked at', () => {
  expect(uncertain(dropped, transfer(1, 10))[0]?.told?.place).toBe(1)
  expect(uncertain(dropped, transfer(1, 10, answered(422)))[0]?.told?.place).toBe(1)
  expect(uncertain(transfer(1, 0), transfer(1, 10, DROPPED))).toEqual([])
  const unused = { ...answered(403), idempotency: { key: key(1), use: 'unused' as const } }
  expect(uncertain(dropped, transfer(1, 10, unused))[0]?.told).toBeNull()
})

test('has the lists up to the next transfer, and the first that shows it', () => {
  const [one] = uncertain(dropped, list(10), list(20, ['tx_a']), transfer(2, 30), list(40))
  expect([one?.looks.map(({ place }) => place), one?.found?.place, one?.next?.place]).toEqual([[1, 2], 2, 3])
  expect(uncertain(dropped, list(10, [], DROPPED))[0]).toMatchObject({ looks: [], found: null, next: null })
})

test('is none when an attempt is older than the record', () => {
  expect(uncertainTransfersOf(evidenceOf([transfer(1, 10, DROPPED)], { kept: [dropped] }))).toEqual([])
})

test('a list shows what is in it, and a cut one may', () => {
  const shown = (exchange: RecordedExchange, transferred = dropped.transfer) =>
    shows(timelinesOf(evidenceOf([exchange]))[0]!.steps[0]!, transferred)
  expect(shown(list(0, ['tx_a']))).toBe(true)
  expect(shown(list(0, ['tx_b']))).toBe(false)
  expect(shown(list(0, [], { response: { body: '{"da', body_cut: true } }))).toBe(true)
  expect(shown(list(0, [], DROPPED))).toBe(false)
  expect(shown(list(0, ['tx_a']), null)).toBe(false)
  expect(shown(list(0, [], { response: { body: null } }))).toBe(false)
  // A page without a next one says "next_cursor":null.
  expect(shown(list(0, ['tx_b']), { ...dropped.transfer!, tx_hash: null })).toBe(false)
})
