import { describe, expect, test } from 'vitest'
import type { LedgerPortfolio } from '../../src/oracle/facts.ts'
import { describeOperation as described, sentenceOf } from '../../src/oracle/judge-operations.ts'
import { type ClientOperation, operationsOf } from '../../src/oracle/operation.ts'
import { evidenceOf } from '../verdict/evidence.ts'
import { booked, LOST, PORTFOLIO, transfer } from './story.ts'

const OTHER: LedgerPortfolio = {
  ...{ ...PORTFOLIO, portfolio_id: 'jar_2', pool_id: 'morpho-weth' },
  ...{ token_symbol: 'WETH', token_decimals: 0 },
}

/** alice's deposit, but for these parts. */
function operation(parts: Partial<ClientOperation> = {}): ClientOperation {
  return {
    ...{ tenant: 'acme', external_id: 'alice', type: 'deposit', key: 'a', attempts: [], state: 'done', transfers: [] },
    ...{ amount_minor: '2500000', portfolio_id: 'jar_1', pool_id: 'aave-usdc', wish: null },
    ...parts,
  }
}

describe('an operation in words', () => {
  const words = (parts: Partial<ClientOperation>, portfolios = [OTHER, PORTFOLIO]) =>
    described(operation(parts), { transfers: [], under_way: [], portfolios })

  test.each<[Partial<ClientOperation>, string]>([
    [{}, "alice's deposit of 2.50 USDC"],
    [{ type: 'withdraw' }, "alice's withdrawal of 2.50 USDC"],
    [{ external_id: null }, 'A deposit of 2.50 USDC'],
    [{ amount_minor: null }, "alice's deposit"],
    [{ portfolio_id: 'jar_2', pool_id: 'morpho-weth', amount_minor: '3' }, "alice's deposit of 3 WETH"],
    [{ portfolio_id: null }, "alice's deposit of 2.50 USDC"],
    [{ portfolio_id: null, pool_id: null }, "alice's deposit of 2500000 minor units"],
    [{ portfolio_id: 'jar_9', pool_id: 'aave-usdc' }, "alice's deposit of 2500000 minor units"],
    [{ amount_minor: '2.5' }, "alice's deposit of 2.5 minor units"],
    [{ amount_minor: '-25' }, "alice's deposit of -25 minor units"],
    [{ amount_minor: '25x' }, "alice's deposit of 25x minor units"],
  ])('%j', (parts, expected) => {
    expect(words(parts)).toBe(expected)
  })
})

describe('a sentence', () => {
  test('says that portfolios are made, and transfers carried out', () => {
    expect(sentenceOf('told', operation(), 'It')).toBe('It was carried out, and your client was told.')
    expect(sentenceOf('told', operation({ type: 'create_portfolio' }), 'It')).toBe(
      'It was made, and your client was told.',
    )
  })

  // The verdict's own line has room for no more than the first.
  test('says in its first part why it is not known whether the client was told', () => {
    const [first] = sentenceOf('perhaps_told', operation(), 'It').split('. ')
    expect(first).toMatch(/^It was carried out, and only a list, .* cannot be seen\.$/)
  })

  test('says how often', () => {
    const often = (count: number) =>
      sentenceOf('key_expired', operation({ transfers: Array.from({ length: count }, () => booked('a')) }), 'It')
    expect(often(1)).toMatch(/; it was carried out once\.$/)
    expect(often(3)).toMatch(/; it was carried out 3 times\.$/)
  })

  test('names the last answer that says something', () => {
    const refused = (...parts: object[]) => {
      const sent = parts.map((one, i) => transfer({ key: 'a', at: i * 50, ...one }))
      return sentenceOf('refused', operationsOf(evidenceOf(sent))[0] ?? operation(), 'It')
    }
    const reverted = { response: { status: 422, code: 'transaction_reverted' } }
    const rest = 'your client was told, and nothing moved.'
    expect(refused(reverted, { response: { status: 503, code: 'x' } })).toBe(
      `It was refused (422 transaction_reverted), ${rest}`,
    )
    expect(refused({ response: { status: 404, code: null } })).toBe(`It was refused (404), ${rest}`)
    expect(refused(LOST)).toBe(`It was refused (no answer), ${rest}`)
  })

  test('goes on in small letters, but for names', () => {
    const misled = (what: string) => sentenceOf('misled', operation(), what)
    expect(misled('A deposit')).toMatch(/^A fault told your client that a deposit was refused, though/)
    expect(misled("Class A 's deposit")).toMatch(/that Class A 's deposit was refused/)
  })
})
