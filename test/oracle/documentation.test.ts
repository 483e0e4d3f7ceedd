import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { describeOperation as described, sentenceOf } from '../../src/oracle/judge-operations.ts'
import { type ClientOperation, operationsOf } from '../../src/oracle/operation.ts'
import { OUTCOMES, type OutcomeId } from '../../src/oracle/outcome.ts'
import { PORTFOLIO, transfer } from './story.ts'

const LEDGER = { transfers: [], under_way: [], portfolios: [PORTFOLIO] }
const REFUSALS = {
  refused: { response: { status: 422, code: 'transaction_reverted' } },
  put_off: { response: { status: 429, code: 'rate_limited' }, idempotency: null },
}

/** What is said of a deposit when this becomes of it. */
function sentence(outcome: OutcomeId): string {
  const parts = outcome === 'refused' || outcome === 'put_off' ? REFUSALS[outcome] : {}
  const twice = outcome === 'key_again' ? [transfer({ key: 'a', at: 50 })] : []
  const exchanges = [transfer({ key: 'a', at: 0, ...parts }), ...twice]
  const [operation] = operationsOf({ kept: [], exchanges, ledger: LEDGER }) as [ClientOperation]
  const transfers = outcome === 'key_expired' ? Array.from({ length: 2 }) : []
  const what = described(operation, LEDGER)
  return sentenceOf(outcome, { ...operation, transfers } as ClientOperation, what).replace(what, '…')
}

test('docs/oracle.md names every outcome with its title, its level and its sentence, in their order, and no other', async () => {
  const text = await readFile(new URL('../../docs/oracle.md', import.meta.url), 'utf8')
  const table = text.slice(text.indexOf('## The outcomes'), text.indexOf('## What the ledger has'))
  const rows = [...table.matchAll(/^\| `(\w+)` \| (.+?) \| (\w+) \| .+ \| (.+) \|$/gm)].map((row) => row.slice(1))
  expect(rows).toEqual(
    Object.entries(OUTCOMES).map(([id, { title, level }]) => [id, title, level, sentence(id as OutcomeId)]),
  )
})
