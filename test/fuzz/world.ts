import { ControlClient } from '../../src/control/client.ts'
import type { Credentials } from '../../src/index.ts'
import { type Partner, partnerAt } from '../helpers/partner.ts'
import { brokenTokens } from './broken-tokens.ts'

/** A pool as the list shows it. */
export type Pool = Record<'pool_id' | 'chain_id' | 'token_address' | 'market_address' | 'protocol', string>

/** A tenant that requests are sent for, and what they may name. */
export interface Shot {
  slug: string
  tenant_id: string
  client_id: string
  client_secret: string
  /** Of the identity provider. */
  token: string
  users: readonly { external_id: string; token: string }[]
  pools: readonly Pool[]
  /** Of the first end user. */
  portfolios: readonly string[]
}

/** All that requests are made of. */
export interface World {
  /** Shot at with everything the service takes; its pools are on the first chain. */
  acme: Shot
  /** Whom faults strike; its pools are on the second chain, which everything may be done to. */
  victim: Shot
  /** Tokens that are wrong in one thing each. */
  wrongTokens: readonly string[]
  cursors: readonly string[]
  /** Hashes of transactions, and addresses of contracts, that the chains know. */
  hashes: readonly string[]
  addresses: readonly string[]
  audience: string
}

/** Ids that the rules allow and code may stumble over. */
const USERS = ['alice', '__proto__', 'constructor', 'hasOwnProperty', '...', '-', 'x'.repeat(128)]

/** What a sandbox just reset has to offer. Opening it is a test already: plain requests, all of which must succeed. */
export async function openWorld(credentials: Credentials): Promise<World> {
  const acme = await openTenant(credentials, 'acme', USERS)
  const victim = await openTenant(credentials, 'victim', ['vic'])
  const page = await partnerAt(credentials).get('end_users/alice/transactions?limit=1')
  const pools = [...acme.pools, ...victim.pools]
  return {
    acme,
    victim,
    wrongTokens: await brokenTokens(credentials),
    cursors: [page.body.next_cursor],
    hashes: page.body.data.map(({ tx_hash }: { tx_hash: string }) => tx_hash),
    addresses: pools.flatMap(({ token_address, market_address }) => [token_address, market_address]),
    audience: credentials.audience,
  }
}

async function openTenant(credentials: Credentials, slug: string, users: readonly string[]): Promise<Shot> {
  const control = new ControlClient(credentials.base_url)
  const partner = partnerAt(credentials, slug)
  const tenant = credentials.tenants.find((candidate) => candidate.slug === slug)
  if (!tenant) throw new Error(`there is no tenant ${slug}`)
  const pools: Pool[] = (await expectStatus(partner.get('pools'), 200)).data
  for (const external_id of users) await expectStatus(partner.post('end_users', { external_id }), 201)
  const [first = ''] = users
  const portfolios: string[] = []
  for (const { pool_id } of pools) portfolios.push(await fund(partner, first, pool_id))
  return {
    ...tenant,
    token: await partner.idpToken(),
    users: await Promise.all(
      users.map(async (external_id) => ({
        external_id,
        token: await control.userToken(external_id, { tenant: slug }),
      })),
    ),
    pools,
    portfolios,
  }
}

/** A plain deposit and withdrawal into a fresh portfolio, which keeps some of it. Returns the portfolio's id. */
export async function fund(partner: Partner, user: string, pool_id: string): Promise<string> {
  const body = await partner.portfolioBody(pool_id)
  const { portfolio_id } = await expectStatus(partner.post(`end_users/${user}/portfolios`, body), 201)
  const { tx_hash } = await expectStatus(partner.deposit(user, portfolio_id, '1000000'), 200)
  const { deposited } = await expectStatus(partner.withdraw(user, portfolio_id, '400000'), 200)
  // What it has earned meanwhile is taken out first in proportion.
  if (!tx_hash || Number(deposited) < 600_000 || Number(deposited) > 601_000)
    throw new Error(`a plain deposit left ${deposited}`)
  return portfolio_id
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
async function expectStatus(asked: ReturnType<Partner['get']>, expected: number): Promise<any> {
  const { status, body } = await asked
  if (status === expected) return body
  throw new Error(
    `a plain request was answered ${status} instead of ${expected}: ${body?.detail ?? JSON.stringify(body)}`,
  )
}
