import type { FoundNamespace, KeptNamespace } from '../data-dir/namespace-folders.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { readInlineFixture } from '../read-fixture.ts'
import type { Logger } from '../support/logger.ts'
import { version } from '../version.ts'
import { Namespace, type NamespaceSetup } from './namespace.ts'
import { withKeptClients } from './own-clients.ts'
import type { Surroundings } from './surroundings.ts'

/** Opens a namespace; it can serve when this resolves. When it rejects, nothing is left running. */
export async function openNamespace(options: NamespaceSetup): Promise<Namespace> {
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

/** Opens a stored namespace as an earlier process left it. Throws DataDirectoryError, FixtureError, OptionError and others. */
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

/** Data of a namespace that is stored beside its data directory. */
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

/**
 * Audits a namespace whose directory was not closed in order, and logs the result. The namespace serves meanwhile: damaged or outdated
 * files were refused before, and changes of clients to the chain may also make an audit fail.
 */
export async function auditAfterKill(namespace: Namespace, log: Logger): Promise<void> {
  const { name, directory, closedInOrder } = namespace
  if (closedInOrder) return
  const found = { namespace: name, path: directory }
  try {
    await namespace.ready
    const { ok, checks } = await namespace.audit()
    const failed = checks.filter((check) => !check.ok)
    if (ok) log.info(found, 'the data directory was not closed in order: the audit finds that all of it agrees')
    else
      log.error({ ...found, failed }, 'the data directory was not closed in order: the audit finds what does not agree')
  } catch (error) {
    log.warn({ ...found, err: error }, 'the data directory was not closed in order, and could not be audited')
  }
}
