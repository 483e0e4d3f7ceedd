import type { FoundNamespace, KeptNamespace } from '../data-dir/namespace-folders.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { readInlineFixture } from '../read-fixture.ts'
import { version } from '../version.ts'
import { auditAfterKill } from './audit-after-kill.ts'
import { Namespace } from './namespace.ts'
import type { NamespaceOptions } from './namespace-options.ts'
import { withKeptClients } from './own-clients.ts'
import type { Surroundings } from './surroundings.ts'

/** Opens a namespace; it can serve when this resolves. Nothing runs when it rejects. */
export async function openNamespace(options: NamespaceOptions): Promise<Namespace> {
  const namespace = await Namespace.open(options)
  try {
    await namespace.ready
    void auditAfterKill(namespace, options.surroundings.log)
    return namespace
  } catch (error) {
    namespace.beginStop()
    await namespace.stop(undefined)
    throw error
  }
}

/** Opens one that was kept, as an earlier process left it. Throws DataDirectoryError, FixtureError, OptionError and others. */
export async function openKept(
  { name, life }: Pick<FoundNamespace, 'name' | 'life'>,
  kept: KeptNamespace,
  { host, dataDir, surroundings }: { host: Fixture; dataDir: string; surroundings: Surroundings },
): Promise<Namespace> {
  const fixture = kept.fixtures === null ? host : await readInlineFixture(kept.fixtures, host)
  return openNamespace({
    name,
    life,
    fixture: withKeptClients(fixture, kept.clients),
    created_at: kept.created_at,
    seed: kept.seed,
    clockStart: kept.clock_start ?? undefined,
    confirmationDelay: kept.confirmation_delay,
    dataDir,
    idleMs: surroundings.options.namespaceIdle,
    surroundings,
  })
}

/** What is to be kept of a namespace beside its data directory. */
export function keptOf({
  created_at,
  fixture,
  seed,
  clockStart,
  confirmationDelay,
  clients,
}: Namespace): KeptNamespace {
  return {
    version,
    created_at,
    seed,
    clock_start: clockStart ?? null,
    confirmation_delay: confirmationDelay,
    clients,
    fixtures: fixture.source.given ?? null,
  }
}
