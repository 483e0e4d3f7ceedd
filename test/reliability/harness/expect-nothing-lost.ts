import { expect } from 'vitest'
import { expectSameBlocks } from './blocks.ts'
import type { Acknowledged, Listed, SeenPage } from './client-memory.ts'
import type { HarnessDeps } from './harness-parts.ts'

const AT_ONCE = 8
const SAMPLE = 100
const PAGE = 7
const PAGES_KEPT = 40

/**
 * Everything clients know is still true, what was never answered happens once, and API, ledger and chain agree. `reorgs`
 * may have replaced the chain's last block.
 */
export async function expectNothingLost(deps: HarnessDeps, reorgs = false): Promise<void> {
  expect(deps.memory.surprises).toEqual([])
  await expectSamePages(deps)
  await expectSameTransactions(deps, (user, listed) => {
    const known = deps.memory.transactions.get(user) ?? []
    const ids = new Set(known.map(({ id }) => id))
    expect(listed.filter(({ id }) => ids.has(id))).toEqual(known)
  })
  await inGroups(sampleOf(deps), (one) => expectReplayed(deps, one))
  await inGroups(deps.memory.unanswered.splice(0), async (order) => {
    const { status, body } = await repeat(deps, order)
    expect([200, 201, 422]).toContain(status)
    deps.memory.acknowledged.push({ order, status, body, round: deps.round })
  })
  await expectSameTransactions(deps, (user, listed) => {
    expect(listed.map(({ tx_hash }) => tx_hash).sort()).toEqual(deps.memory.hashes(user).sort())
    deps.memory.transactions.set(user, listed)
  })
  await expectSamePortfolios(deps)
  await expectSameBlocks(deps, reorgs)
  const { checks } = await deps.control.audit()
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
}

/** All of the last round, and some of earlier ones. */
function sampleOf({ memory, random, round }: HarnessDeps): Acknowledged[] {
  const earlier = memory.acknowledged.filter((one) => one.round < round)
  const some = Array.from({ length: Math.min(SAMPLE, earlier.length) }, () => {
    return earlier[Math.floor(random.next('sample') * earlier.length)]!
  })
  return [...memory.acknowledged.filter((one) => one.round === round), ...some]
}

function repeat({ acme }: HarnessDeps, { key, user, operation, body }: Acknowledged['order']) {
  return acme.post(`end_users/${user}/${operation}`, body, { key })
}

async function expectReplayed(deps: HarnessDeps, { order, status, body }: Acknowledged): Promise<void> {
  const again = await repeat(deps, order)
  expect({ status: again.status, body: again.body }).toEqual({ status, body })
  expect(again.headers.get('idempotency-key-replay')).toBe('true')
}

/** Pages that a cursor gave before: what came since is on none of them, or pushes the last items to the next page. */
async function expectSamePages({ acme, memory }: HarnessDeps): Promise<void> {
  await inGroups(memory.pages, async ({ user, cursor, ids }) => {
    const { status, body } = await acme.get(`end_users/${user}/transactions?limit=${PAGE}&starting_after=${cursor}`)
    expect(status).toBe(200)
    expect(body.data.map(({ id }: Listed) => id)).toEqual(ids)
  })
}

async function expectSameTransactions(
  { acme, memory }: HarnessDeps,
  check: (user: string, listed: Listed[]) => void,
): Promise<void> {
  await inGroups(memory.users, async (user) => {
    const listed: Listed[] = []
    let cursor: string | null = null
    do {
      const after: string = cursor ? `&starting_after=${cursor}` : ''
      const { status, body } = await acme.get(`end_users/${user}/transactions?limit=100${after}`)
      expect(status).toBe(200)
      listed.push(...body.data)
      cursor = body.next_cursor
    } while (cursor)
    check(user, listed)
    const first = await acme.get(`end_users/${user}/transactions?limit=${PAGE}`)
    if (first.body.next_cursor) memory.pages.push(pageAfter(user, first.body.next_cursor, listed))
  })
  memory.pages.splice(0, memory.pages.length - PAGES_KEPT)
}

function pageAfter(user: string, cursor: string, listed: readonly Listed[]): SeenPage {
  return { user, cursor, ids: listed.slice(PAGE, 2 * PAGE).map(({ id }) => id) }
}

async function expectSamePortfolios({ acme, memory }: HarnessDeps): Promise<void> {
  await inGroups(memory.users, async (user) => {
    const { body } = await acme.get(`end_users/${user}/portfolios?limit=100`)
    const ids = body.data.map(({ portfolio_id }: Record<string, string>) => portfolio_id)
    expect(ids.sort()).toEqual(memory.portfolios(user).sort())
  })
}

async function inGroups<Item>(items: readonly Item[], task: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await task(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
