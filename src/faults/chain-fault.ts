import { Type } from '@sinclair/typebox'
import { type Chain, ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Pool } from '../domain/records.ts'
import type { Issue } from '../support/issue.ts'
import { inTime } from '../support/waiting.ts'
import { Duration, SERVICE } from './parameters.ts'
import type { Phase } from './phase.ts'
import { type PoolPart, poolRepair, type Repair } from './repairs.ts'
import { type Strike, wait } from './strike.ts'

/** Milliseconds that a struck request waits until the chain is broken. Clients count five seconds as a hang. */
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

/** Says in words how long something stays broken. */
export function lasting(parameters: Lasting): string {
  return parameters.for === undefined ? 'until the fault is taken away' : `for ${parameters.for}`
}

/** Parameters of the kinds that break a pool. */
interface Pooled extends Lasting {
  pool?: string
}

/** Members that the kinds that break a pool have in common. */
export const OF_A_POOL = {
  scope: 'service',
  group: 'chain',
  operations: SERVICE,
  /** A pool must be named at a phase without transfer. */
  check({ pool }: Pooled, phase: Phase): Issue | undefined {
    if (pool !== undefined || phase !== 'on_request') return undefined
    const fix = 'name the pool, or use phase before_broadcast for that of the transfer'
    return { path: ['pool'], message: 'is missing', fix }
  },
  pool: ({ pool }: Pooled) => pool,
} as const

/** Breaks something until the rule is cleared, or for as long as its parameters say. Resolves when it is broken. */
export function keepBroken(strike: Strike<Lasting>, repair: Repair): Promise<void> {
  const { repairs, released, with: parameters } = strike
  return repairs.owe(repair, released, parameters.for === undefined ? undefined : wait(parameters.for, strike))
}

/**
 * Breaks a part of the strike's pool by `change`, as {@link keepBroken} does. Throws ChainUnavailableError when that takes too
 * long: the pool is broken later.
 */
export async function keepPoolBroken(
  strike: Strike<Lasting>,
  part: PoolPart,
  change: (chain: Chain, pool: Pool) => Promise<void>,
): Promise<void> {
  const { pool, chains, clock } = strike
  const chain = pool && chains.get(pool.chain_id)
  if (!chain) return
  const broken = keepBroken(
    strike,
    poolRepair(part, chain, pool, () => change(chain, pool)),
  )
  const late = () => new ChainUnavailableError(pool.chain_id, 'it has other things to do')
  await inTime(broken, clock.wallSleep(BREAKING_TIME_MS), late)
}
