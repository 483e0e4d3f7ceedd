import { type AnvilChains, type ChainsOptions, openChains, startAnvilChains } from '../chain/anvil-chains.ts'
import type { Checkpoint } from '../chain/history/checkpoint.ts'
import { NodeShare } from '../chain/node-share.ts'
import type { SandboxClock } from '../domain/clock.ts'
import type { PartsContext } from './build-services.ts'
import type { Surroundings } from './surroundings.ts'

/** Dependencies of starting the chains. */
interface StartDeps extends Pick<PartsContext, 'fixture' | 'seed' | 'persistence' | 'clock' | 'begin' | 'log'> {
  /** Milliseconds without use after which a chain rests; its Anvil then starts at first use. Undefined: it never rests. */
  idleMs: number | undefined
  /** Milliseconds; see ResolvedOptions. */
  blockTime: number
  /** Initial state of embedded chains. */
  embedded: Promise<Checkpoint>
  pool: ChainsOptions['pool']
  /** Called when an Anvil has been started. */
  spawned: (() => void) | undefined
}

/** Starts the chains. If that fails, the promise rejects, which is not an unhandled rejection while nobody awaits it. */
export function startChains({
  fixture,
  seed,
  persistence,
  clock,
  begin,
  idleMs,
  blockTime,
  embedded,
  pool,
  log,
  spawned,
}: StartDeps): Promise<AnvilChains> {
  const { chains, settings } = fixture
  const context = {
    chains,
    clock,
    seed,
    protocols: settings.protocols,
    log,
    idleMs,
    blockTime,
    pool,
    spawned,
    ...(begin && { begin: begin.chains }),
    ...(persistence && { journal: persistence.journal }),
  }
  const start = idleMs === undefined ? startAnvilChains : openChains
  const started = embedded.then((checkpoint) => start({ ...context, embedded: checkpoint }))
  started.catch(() => undefined)
  return started
}

/** Source of a namespace's Anvils: the pool of all, or a share of it. The default namespace always has its own. */
export function shareOf({ name, idleMs, surroundings }: ShareDeps, clock: SandboxClock): ChainsOptions['pool'] {
  const { pool, options } = surroundings
  const { anvils: maxNodes } = options.quota
  return maxNodes === 0 || idleMs === undefined ? pool : new NodeShare({ pool, maxNodes, namespace: name, clock })
}

/** Ends the chains, also if they are still starting. */
export async function stopChains(starting: Promise<AnvilChains> | undefined): Promise<void> {
  const chains = await starting?.catch(() => undefined)
  await chains?.stop()
}

interface ShareDeps {
  name: string
  /** See {@link StartDeps}. */
  idleMs?: number | undefined
  surroundings: Surroundings
}
