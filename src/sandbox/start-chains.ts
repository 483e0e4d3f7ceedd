import { type AnvilChains, startAnvilChains } from '../chain/anvil-chains.ts'
import { embeddedCheckpoint } from '../chain/markets/embedded-market.ts'
import type { PartsContext } from './build-services.ts'

/** Starts the chains. A failure is told to whoever awaits them; until somebody does, it is nobody's. */
export function startChains({
  fixture,
  seed,
  persistence,
  clock,
  log,
}: Pick<PartsContext, 'fixture' | 'seed' | 'persistence' | 'clock' | 'log'>): Promise<AnvilChains> {
  const { chains, settings } = fixture
  const context = {
    chains,
    clock,
    seed,
    protocols: settings.protocols,
    log,
    ...(persistence && { journal: persistence.journal }),
  }
  const started = embeddedCheckpoint().then((embedded) => startAnvilChains({ ...context, embedded }))
  started.catch(() => undefined)
  return started
}

/** Ends the chains, also those that are still starting. */
export async function stopChains(starting: Promise<AnvilChains> | undefined): Promise<void> {
  const chains = await starting?.catch(() => undefined)
  await chains?.stop()
}
