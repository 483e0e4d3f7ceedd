import { Type } from '@sinclair/typebox'
import { type Chain, ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Pool } from '../domain/records.ts'
import type { Issue } from '../support/issue.ts'
import { inTime } from '../support/waiting.ts'
import type { Breakage } from './breakages.ts'
import type { Strike } from './fault-kind.ts'
import { Duration, SERVICE } from './parameters.ts'
import type { Phase } from './phase.ts'
import { wait } from './waiting.ts'

/** Milliseconds that a request which a fault strikes waits for the chain to be broken. Clients count five seconds as a hang. */
const BREAKING_TIME_MS = 3_000

/** Parameter of the kinds that keep something broken: how long. */
export const For = Type.Optional(
  Duration({ description: 'How long, on the sandbox clock; until the fault is taken away by default.' }),
)

/** Parameter of the kinds that break a pool: which. */
export const PoolId = Type.Optional(Type.String({ description: "Which pool, by id; the transfer's own by default." }))

/** Parameters of the kinds that keep something broken. */
interface Lasting {
  for?: string
}

/** How long something stays broken, in words. */
export function lasting(parameters: Lasting): string {
  return parameters.for === undefined ? 'until the fault is taken away' : `for ${parameters.for}`
}

/** Parameters of the kinds that break a pool. */
interface Pooled extends Lasting {
  pool?: string
}

/** What the kinds that break a pool have in common. */
export const OF_A_POOL = {
  scope: 'service',
  operations: SERVICE,
  /** A pool must be named where there is no transfer to take it from. */
  check({ pool }: Pooled, phase: Phase): Issue | undefined {
    if (pool !== undefined || phase !== 'on_request') return undefined
    const fix = 'name the pool, or use phase before_broadcast for that of the transfer'
    return { path: ['pool'], message: 'is missing', fix }
  },
  pool: ({ pool }: Pooled) => pool,
} as const

/** Breaks something for as long as the parameters say. Resolves when it is broken; it is mended later on. */
export function keepBroken(strike: Strike<Lasting>, breakage: Breakage): Promise<void> {
  const { breakages, released, with: parameters } = strike
  return breakages.keep(breakage, released, parameters.for === undefined ? undefined : wait(parameters.for, strike))
}

/**
 * Breaks the pool the strike is about, on its chain; `change` is what is done to it and, with `mend`, undone. Throws
 * ChainUnavailableError when that takes too long: it is broken later.
 */
export async function keepPoolBroken(
  strike: Strike<Lasting>,
  { what, change, mend }: { what: string } & Record<'change' | 'mend', (chain: Chain, pool: Pool) => Promise<void>>,
): Promise<void> {
  const { pool, chains, clock } = strike
  const chain = pool && chains.get(pool.chain_id)
  if (!chain) return
  const broken = keepBroken(strike, {
    what: `${what} of ${pool.market_address}, token ${pool.token_address}, chain ${pool.chain_id}`,
    needs: answersOf(chain),
    break: () => change(chain, pool),
    mend: () => mend(chain, pool),
  })
  const late = () => new ChainUnavailableError(pool.chain_id, 'it has other things to do')
  await inTime(broken, clock.wallSleep(BREAKING_TIME_MS), late)
}

/** Names what is broken of a chain that does not answer. */
export function answersOf(chain: Chain): string {
  return `answers of chain ${chain.chain_id}`
}
