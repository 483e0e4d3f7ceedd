import type { Logger } from '../support/logger.ts'
import { Lanes, SerialQueue } from '../support/serial-queue.ts'
import type { Namespace } from './namespace.ts'
import { auditAfterKill } from './open-namespace.ts'

/** Namespaces of a dead process that are opened at once: an opening waits for the database more than it computes. */
const AT_ONCE = 8

/**
 * Opens namespaces as they are stored. Those that were not closed in order are audited afterwards, one at a time and behind all that
 * somebody waits for: an audit needs an Anvil for each chain.
 */
export class Openings {
  readonly #lanes = new Lanes(AT_ONCE)
  readonly #audits = new SerialQueue()
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  /** Resolves or rejects as `open` does, once its turn has come. */
  async run(open: () => Promise<Namespace>): Promise<Namespace> {
    const namespace = await this.#lanes.run(open)
    void this.#audits.run(async () => {
      await this.#lanes.run(async () => undefined)
      await auditAfterKill(namespace, this.#log)
    })
    return namespace
  }
}
