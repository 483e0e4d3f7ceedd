import { type AnvilChains, startChains } from './chain/anvil-chains.ts'
import { embeddedCheckpoint } from './chain/embedded-market.ts'
import type { PartsContext } from './service-parts.ts'

/** Starts the chains. A failure is told to whoever awaits them; until somebody does, it is nobody's. */
export function beginChains({
  fixture,
  seed,
  kept,
  clock,
  log,
}: Pick<PartsContext, 'fixture' | 'seed' | 'kept' | 'clock' | 'log'>): Promise<AnvilChains> {
  const { chains, settings } = fixture
  const context = { chains, clock, seed, protocols: settings.protocols, log, ...(kept && { journal: kept.journal }) }
  const started = embeddedCheckpoint().then((embedded) => startChains({ ...context, embedded }))
  started.catch(() => undefined)
  return started
}

/** Ends the chains, also those that are still starting. */
export async function stopChains(starting: Promise<AnvilChains> | undefined): Promise<void> {
  const chains = await starting?.catch(() => undefined)
  await chains?.stop()
}
