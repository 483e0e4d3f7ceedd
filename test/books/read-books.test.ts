import { expect, test } from 'vitest'
import { BooksError } from '../../src/books/books.ts'
import { type KnownNames, readBooks, refuseUnknownNames } from '../../src/books/read-books.ts'
import { PORTFOLIO } from '../oracle/story.ts'
import { row } from './story.ts'

const text = (rows: readonly object[]) => JSON.stringify({ form: 1, transfers: rows })

function sentenceOn(printed: string): string {
  try {
    readBooks(printed)
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(BooksError)
    expect(error).toMatchObject({ exitCode: 2 })
    return (error as Error).message
  }
}

test('reads transfers, balances and both, with a line break or a mark of UTF-8 around them', () => {
  expect(readBooks(text([row()]))).toEqual({ form: 1, transfers: [row()] })
  const balances = [{ external_id: 'alice', portfolio_id: 'jar_1', principal_minor: '-5' }]
  expect(readBooks(`\uFEFF\n${JSON.stringify({ form: 1, transfers: [], balances })}\n`)).toEqual({
    ...{ form: 1, transfers: [], balances },
  })
})

test.each<[string, string, string]>([
  ['nothing', '  \n', 'printed nothing: it must print {"form": 1, "transfers": […]} to standard output'],
  ['no JSON', 'done\n', 'printed no JSON: "done"'],
  [
    'a line before it',
    `\n> acme@1.0.0 books\n> node books.mjs\n\n${text([])}`,
    'printed more than its JSON: "> acme@1.0.0 books > node books.mjs"; let it print the JSON alone, and anything else to standard error',
  ],
  ['a line after it', `${text([])}\nDone.`, 'printed more than its JSON: "Done."; let it print the JSON alone'],
  [
    'JSON that ends in the middle',
    '{"form": 1, "transfers": [',
    'printed no JSON: "{\\"form\\": 1, \\"transfers\\": ["',
  ],
  [
    'a list',
    '[{"external_id": "alice"}]',
    'printed a list where an object must be: print {"form": 1, "transfers": […]}',
  ],
  ['a word', '"done"', 'printed "done" where an object must be'],
  ['nothing known', 'null', 'printed null where an object must be'],
  [
    'another form',
    '{"form": 2, "transfers": []}',
    'printed books of form 2, and this version reads form 1: print "form": 1',
  ],
  ['no form', '{"transfers": []}', 'printed wrong books: form is missing; add it, such as form: 1'],
  [
    'neither list',
    '{"form": 1}',
    'printed neither transfers nor balances: an app without orders prints "transfers": []',
  ],
  [
    'another list',
    '{"form": 1, "transfer": []}',
    'printed wrong books: transfer is not a known field; did you mean "transfers"?',
  ],
  ['rows that are none', '{"form": 1, "transfers": {}}', 'printed wrong books: transfers must be a list of transfers'],
  ['deep JSON', '['.repeat(100), 'printed JSON that nests deeper than 64 levels'],
  [
    'an unknown state',
    text([row({ state: 'paid' as 'done' })]),
    'printed wrong books: transfers[0].state "paid" is not known; use one of done, failed, open',
  ],
  [
    'an unknown type',
    text([row({ type: 'withdrawal' as 'withdraw' })]),
    'printed wrong books: transfers[0].type "withdrawal" is not known; did you mean "withdraw"?',
  ],
  [
    'an amount with a decimal point',
    text([row({ amount_minor: '250.00' })]),
    'printed wrong books: transfers[0].amount_minor must be minor units in a string of digits; got "250.00"; write it like "250000000"',
  ],
  [
    'an amount as a number',
    text([{ ...row(), amount_minor: 250000000 }]),
    'printed wrong books: transfers[0].amount_minor must be minor units in a string of digits; got the number 250000000; put it in quotes: "250000000"',
  ],
  [
    'an amount below 0',
    text([row({ amount_minor: '-5' })]),
    'printed wrong books: transfers[0].amount_minor must be minor units in a string of digits; got "-5"',
  ],
  [
    'a balance with a decimal point',
    '{"form": 1, "balances": [{"external_id": "alice", "pool_id": "p", "principal_minor": "1.5"}]}',
    'printed wrong books: balances[0].principal_minor must be minor units in a string of digits; got "1.5"',
  ],
  [
    'a column more',
    text([{ ...row(), order_id: 7 }]),
    'printed wrong books: transfers[0].order_id is not a known field; use one of ',
  ],
  [
    'nobody',
    text([{ ...row(), external_id: undefined }]),
    'printed wrong books: transfers[0].external_id is missing; add it, such as external_id: "alice"',
  ],
  [
    'no place',
    text([row(), { ...row(), pool_id: undefined }]),
    'printed wrong books: transfers[1] has neither pool_id nor portfolio_id; add one of them',
  ],
  [
    'two transfers of one key',
    text([row({ idempotency_key: 'k-1' }), row(), row({ idempotency_key: 'K-1' })]),
    'printed two transfers of the key "K-1", transfers[0] and transfers[2]: one key carries out one order; give each its own, or leave idempotency_key out',
  ],
  [
    'two balances of one pool',
    `{"form": 1, "balances": [${Array(2).fill('{"external_id": "a", "pool_id": "p", "principal_minor": "1"}')}]}`,
    'printed two balances of one place, balances[0] and balances[1]: add them up, or name their portfolio_id',
  ],
])('%s: one sentence with the fix', (_, printed, sentence) => {
  expect(sentenceOn(printed)).toContain(`--books ${sentence}`)
})

test('one key may be that of a deposit and of a withdrawal, and of two end users', () => {
  const idempotency_key = 'k'
  const rows = [row({ idempotency_key }), row({ idempotency_key, type: 'withdraw' })]
  expect(sentenceOn(text([...rows, row({ idempotency_key, external_id: 'bob' })]))).toBe('')
})

const KNOWN: KnownNames = {
  endUsers: [
    { tenant: 'acme', external_id: 'alice' },
    { tenant: 'acme', external_id: 'bob' },
    { tenant: 'acme', external_id: 'twin' },
    { tenant: 'globex', external_id: 'twin' },
    { tenant: null, external_id: 'asked-for' },
  ],
  pools: async () => ['aave-usdc', 'vault-usdc'],
  portfolios: [PORTFOLIO],
}

test.each<[string, Parameters<typeof row>[0], string]>([
  ['known names', {}, ''],
  ['a pool without portfolios', { pool_id: 'vault-usdc' }, ''],
  ['an end user who was only asked for', { external_id: 'asked-for', state: 'open' }, ''],
  ['a tenant', { external_id: 'twin', tenant: 'globex' }, ''],
  [
    'an unknown end user',
    { external_id: 'alicia' },
    '--books printed wrong books: transfers[0] names the end user "alicia", and the sandbox has none of that name: print the external_id that the API was given; did you mean "alice"?',
  ],
  [
    'an end user of another tenant',
    { tenant: 'globex' },
    '--books printed wrong books: transfers[0] names the end user "alice" of the tenant "globex", who has none of that name; use acme',
  ],
  [
    'an end user of two tenants',
    { external_id: 'twin' },
    '--books printed wrong books: transfers[0] names the end user "twin", and acme and globex have one of that name each: add its tenant',
  ],
  [
    'an unknown pool',
    { pool_id: 'aave-usdt' },
    '--books printed wrong books: transfers[0] names the pool "aave-usdt", and the sandbox has none of that id; did you mean "aave-usdc"?',
  ],
  [
    'an unknown portfolio',
    { portfolio_id: 'jar_9' },
    '--books printed wrong books: transfers[0] names the portfolio "jar_9", and the sandbox has none of that id: print the portfolio_id that the API answered',
  ],
  [
    'a portfolio of somebody else',
    { external_id: 'bob', portfolio_id: 'jar_1' },
    '--books printed wrong books: transfers[0] names the portfolio "jar_1" of bob, and it belongs to alice: correct one of them',
  ],
  [
    'a portfolio of another pool',
    { pool_id: 'vault-usdc', portfolio_id: 'jar_1' },
    '--books printed wrong books: transfers[0] names the portfolio "jar_1" in vault-usdc, and it is in aave-usdc: leave out pool_id',
  ],
])('names: %s', async (_, parts, sentence) => {
  const said = await refuseUnknownNames({ form: 1, transfers: [row(parts)] }, KNOWN).catch((error) => error.message)
  expect(said ?? '').toBe(sentence)
})

test('more than twelve open transfers beside balances cannot be tried', async () => {
  const open = (count: number) => Array.from({ length: count }, () => row({ state: 'open' }))
  const refused = (transfers: ReturnType<typeof open>, balances: [] | undefined) =>
    refuseUnknownNames({ form: 1, transfers, ...(balances && { balances }) }, KNOWN).catch((error) => error.message)
  expect(await refused(open(12), [])).toBeUndefined()
  expect(await refused(open(13), undefined)).toBeUndefined()
  expect(await refused(open(13), [])).toBe(
    '--books printed 13 open transfers of alice in one pool beside balances: at most 12 can be in a balance or not; leave the balances out',
  )
  const mixed = [...open(12), row({ state: 'open', portfolio_id: 'jar_1' })]
  expect(await refused(mixed, [])).toContain('printed 13 open transfers')
})
