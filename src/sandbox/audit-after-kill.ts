import type { Logger } from '../support/logger.ts'
import type { Namespace } from './namespace.ts'

/**
 * Says in the log whether API, ledger and chain of a namespace agree whose directory was not closed in order. It serves meanwhile:
 * what is damaged or older than the rest was refused before, and what clients did to the chain may make an audit false, too.
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
