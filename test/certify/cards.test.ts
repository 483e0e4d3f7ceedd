import { expect, test } from 'vitest'
import { cardsOf } from '../../src/certify/render/causes.ts'
import { incident } from './sample-evidence.ts'

const one = incident('deposit', 'reset-after-broadcast')
const sizes = (...others: Partial<typeof one>[]) =>
  cardsOf([one, ...others.map((parts) => ({ ...one, ...parts }))]).map(({ others }) => 1 + others.length)

test('what the same findings explain is one, whatever happened to whom', () => {
  expect(sizes({ sentences: ['another'], operation: 'withdraw' })).toEqual([2])
  expect(sizes({ findings: ['single-transfer'] })).toEqual([1, 1])
  expect(sizes({ outcome: 'hung' })).toEqual([1, 1])
  expect(
    cardsOf([
      { ...one, findings: ['a', 'b'] },
      { ...one, findings: ['b', 'a'] },
    ]),
  ).toHaveLength(1)
})

test.each([
  [
    "alice's deposit of 250.00 USDC was carried out, and nobody was told.",
    "bob's withdrawal of 1.00 USDC was carried out, and nobody was told.",
    1,
  ],
  [
    'alice: 2.00 USDC in aave-usdc instead of 1.00 (deposit of 1.00: twice instead of once)',
    'bob: 4.00 USDC in aave-usdc instead of 2.00 (withdraw of 2.00: twice instead of once)',
    1,
  ],
  ["alice's deposit of 1.00 USDC was carried out.", "alice's deposit of 1.00 USDC was lost.", 2],
])('what nothing explains goes by what happened: %s and %s', (first, second, cards) => {
  const both = [first, second].map((sentence) => ({ ...one, findings: [], sentences: [sentence] }))
  expect(cardsOf(both)).toHaveLength(cards)
})
