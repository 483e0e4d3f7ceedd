import type { NamespaceWish } from '../control/contract.ts'
import { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { SnapshotError } from '../snapshot/snapshot-error.ts'
import { type RestoredState, restoreSnapshot } from './from-snapshot.ts'
import type { Namespace } from './namespace.ts'

/** What a snapshot brings along, and a wish can therefore not name as well. */
const BROUGHT = ['from', 'fixtures', 'seed'] as const

/** Reads the snapshot of a wish for a sandbox with that fixture. Throws Problem validation_error, with nothing changed. */
export async function readSnapshotWish(
  { snapshot = '', ...wish }: NamespaceWish,
  fixture: Fixture,
): Promise<RestoredState> {
  const excess = BROUGHT.find((name) => wish[name] !== undefined)
  if (excess !== undefined) {
    throw new Problem('validation_error', { detail: `A snapshot has its own ${excess}: leave one out.`, param: excess })
  }
  const wallNow = new SandboxClock().wallNow()
  return orRefuse(() => restoreSnapshot(Buffer.from(snapshot), { fixture }, wallNow))
}

/** Wakes the chains of a namespace that begins with a snapshot, to find out that they can be. Throws Problem validation_error. */
export async function proveChains({ services }: Namespace): Promise<void> {
  await orRefuse(async () => {
    await services.chains.started?.wake()
  })
}

/** Errors about a snapshot, in words of the request; the names of those of a chain that cannot start. */
const REFUSALS = new Set(['ChainSetupError', 'AnvilStartError'])

async function orRefuse<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SnapshotError || (error instanceof Error && REFUSALS.has(error.name))) {
      throw new Problem('validation_error', { detail: error.message, param: 'snapshot' })
    }
    throw error
  }
}
