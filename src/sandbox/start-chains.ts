import { type AnvilChains, openChains, startAnvilChains } from '../chain/anvil-chains.ts'
import type { Checkpoint } from '../chain/history/checkpoint.ts'
import type { NodePool } from '../chain/node-pool.ts'
import type { PartsContext } from './build-services.ts'

/** What chains are started from. */
export interface StartDeps extends Pick<PartsContext, 'fixture' | 'seed' | 'persistence' | 'clock' | 'begin' | 'log'> {
  /** Milliseconds without use after which a chain rests, and it has no Anvil before it is used; undefined: it never does. */
  idleMs: number | undefined
  /** What embedded chains begin with. */
  embedded: Promise<Checkpoint>
  pool: NodePool
}

/** Starts the chains. A failure is told to whoever awaits them; until somebody does, it is nobody's. */
export function startChains({
  fixture,
  seed,
  persistence,
  clock,
  begin,
  idleMs,
  embedded,
  pool,
  log,
}: StartDeps): Promise<AnvilChains> {
  const { chains, settings } = fixture
  const context = {
    chains,
    clock,
    seed,
    protocols: settings.protocols,
    log,
    idleMs,
    pool,
    ...(begin && { begin: begin.chains }),
    ...(persistence && { journal: persistence.journal }),
  }
  const start = idleMs === undefined ? startAnvilChains : openChains
  const started = embedded.then((checkpoint) => start({ ...context, embedded: checkpoint }))
  started.catch(() => undefined)
  return started
}

/** Ends the chains, also those that are still starting. */
export async function stopChains(starting: Promise<AnvilChains> | undefined): Promise<void> {
  const chains = await starting?.catch(() => undefined)
  await chains?.stop()
}
