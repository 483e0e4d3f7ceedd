import { expect, test } from 'vitest'
import { NonceOrder, type Round, type TransferJob } from '../../src/chain/rounds/transfer-round.ts'

// No chain names a wrong nonce: the rounds are made by hand.
const job = (wallet: string) => ({ wallet: { address: wallet } }) as unknown as TransferJob
const facts = { wallet_balance: 1n, position_value: 1n, worthless: false }

/** A round in which each wallet has one job and is to sign with this nonce. */
function roundOf(nonces: Record<string, number>): Round {
  const wallets = new Map(Object.keys(nonces).map((wallet) => [wallet, [{ job: job(wallet), facts }]]))
  return { timestamp: 1, wallets, nonces: new Map(Object.entries(nonces)), unread: new Map() }
}

/** Who signs in a round, and what is said of the others. */
function outcomeOf(order: NonceOrder, nonces: Record<string, number>, foreignChanges = 0) {
  const round = roundOf(nonces)
  order.leaveOut(round, foreignChanges)
  const refused = [...round.unread.values()].map((reason) => (reason as Error).message)
  return { signs: [...round.wallets.keys()], refused }
}

function signed(next: Record<string, number>): NonceOrder {
  const order = new NonceOrder()
  order.signed(new Map(Object.entries(next)))
  return order
}

test('a wallet signs with the nonce after its last one, and a new wallet with whichever it has', () => {
  expect(outcomeOf(signed({ '0xa': 3 }), { '0xa': 3, '0xb': 7 })).toEqual({ signs: ['0xa', '0xb'], refused: [] })
})

test.each([2, 4, 0])('one whose nonce is another is left out, the others are not: %i', (nonce) => {
  expect(outcomeOf(signed({ '0xa': 3, '0xb': 1 }), { '0xa': nonce, '0xb': 1 })).toEqual({
    signs: ['0xb'],
    refused: [`the next nonce of wallet 0xa must be 3; found ${nonce}`],
  })
})

test('after others changed the chain any nonce will do, and is held again from there on', () => {
  const order = signed({ '0xa': 3 })
  expect(outcomeOf(order, { '0xa': 9 }, 1).signs).toEqual(['0xa'])
  order.signed(new Map([['0xa', 10]]))
  expect(outcomeOf(order, { '0xa': 9 }, 1).signs).toEqual([])
  expect(outcomeOf(order, { '0xa': 10 }, 1).signs).toEqual(['0xa'])
})

test('what was given up leaves nothing to hold', () => {
  const order = signed({ '0xa': 3 })
  order.clear()
  expect(outcomeOf(order, { '0xa': 1 }).signs).toEqual(['0xa'])
})
