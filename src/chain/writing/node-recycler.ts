import type { Hex } from '../../domain/records.ts'
import type { Logger } from '../../support/logger.ts'
import type { ChainJournal } from '../history/chain-journal.ts'
import type { RpcClient } from '../json-rpc/rpc-client.ts'
import { statesKept } from '../node/anvil-node.ts'
import type { NodeSupervisor } from '../node/node-supervisor.ts'
import type { ChainWriter } from './chain-writer.ts'

/**
 * Number of blocks and transactions after which a node is renewed. Anvil's memory grows by 1 to 3 KB with each, even if it is told
 * to forget old ones: so many are some 30 MiB, as much as it begins with.
 */
const RENEW_AFTER = 20_000
/** The same when the state has become too large for the number of copies that the node keeps. */
const RENEW_OUTGROWN_AFTER = 400
/** Under load, renewal waits for a recent checkpoint until the number is the limit times this factor. */
const OVERDUE_FACTOR = 2

/** Replaces a node that has done much by a fresh one, so that its memory does not grow without limit. */
export class NodeRecycler {
  readonly #deps: RecyclerDeps
  readonly #limit: number
  /** Value of the writer's `done` at the last attempt. */
  #before = 0

  constructor(deps: RecyclerDeps) {
    this.#deps = deps
    this.#limit = deps.renewAfter ?? RENEW_AFTER
  }

  /**
   * @returns true if a quiet moment should be used to renew the node. The journal must have at least one block to repeat: a node
   * that starts right at a checkpoint does not know all about its last block
   */
  get due(): boolean {
    return this.#carried >= this.#limitNow && this.#deps.journal.mined && !this.#deps.supervisor.foreign.pinned
  }

  /** @returns true if the node should be renewed even under load */
  get pressing(): boolean {
    return this.due && (this.#easy || this.#carried >= this.#limitNow * OVERDUE_FACTOR)
  }

  /**
   * Renews the node if that is easy; otherwise takes a checkpoint, after which it will be. Does nothing while the node's pool holds
   * transactions, which another node would not have. Nothing may change the chain meanwhile. If no other node starts, the next
   * attempt is due after as many blocks and transactions. Throws ChainUnavailableError.
   */
  async run(): Promise<void> {
    const { chainId, rpc, writer, journal, supervisor, log } = this.#deps
    await writer.reconcile()
    const { pending, queued } = await rpc.call<{ pending: Hex; queued: Hex }>('txpool_status')
    if (Number(pending) + Number(queued) > 0) return
    if (!this.#easy) return writer.checkpoint()
    this.#before = writer.done
    try {
      const history = await journal.read()
      if (history) await supervisor.renew(history)
      log.debug({ chain_id: chainId }, 'another Anvil has taken the place of one that had grown')
    } catch (error) {
      log.warn({ chain_id: chainId, err: error }, 'no other Anvil could take the place of one that has grown: it stays')
    }
  }

  get #limitNow(): number {
    const { journal, supervisor } = this.#deps
    const outgrown = supervisor.states.count > statesKept(journal.base.characters)
    return outgrown ? Math.min(this.#limit, RENEW_OUTGROWN_AFTER) : this.#limit
  }

  get #carried(): number {
    return this.#deps.writer.done - this.#before
  }

  /** @returns true shortly after a checkpoint, when there is little to repeat */
  get #easy(): boolean {
    return this.#deps.journal.short && !this.#deps.writer.unsettled
  }
}

export interface RecyclerDeps {
  chainId: string
  rpc: RpcClient
  journal: Pick<ChainJournal, 'base' | 'mined' | 'short' | 'read'>
  writer: Pick<ChainWriter, 'done' | 'unsettled' | 'checkpoint' | 'reconcile'>
  supervisor: Pick<NodeSupervisor, 'foreign' | 'renew' | 'states'>
  log: Logger
  /** Number of blocks and transactions after which a node is renewed; default 20,000. */
  renewAfter?: number
}
