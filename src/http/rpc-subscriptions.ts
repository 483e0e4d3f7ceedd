import type { Chain } from '../domain/ports/chain.ts'
import { SerialQueue } from '../support/serial-queue.ts'

/** A block without its transactions, as `eth_getBlockByNumber` gives it. */
export interface BlockHeader {
  number: string
  hash: string
  [member: string]: unknown
}

interface Log {
  removed?: boolean
  [member: string]: unknown
}

/** What a subscription to logs selects: addresses and topics as of `eth_getLogs`. */
export interface LogSelection {
  address?: unknown
  topics?: unknown
}

/** Sends a message of a subscription. */
type Notify = (result: object) => void

/** Dependencies of {@link ChainNews}. */
export interface ChainNewsDeps {
  /** Waits for so many milliseconds of real time. */
  wallSleep(milliseconds: number): Promise<unknown>
  /** Milliseconds after which a block is asked for while somebody is subscribed. */
  blockTime: number
}

/**
 * New blocks of a chain and their logs, for everybody who is subscribed. It asks by the chain's own RPC, so that an answer costs what a
 * question of a client's would, and outlives the Anvil that made the block. While somebody is subscribed, the latest block is asked for
 * once in a block time: a chain mines one then if its clock has moved on, as it does for clients that poll.
 */
export class ChainNews {
  readonly #chain: Chain
  readonly #deps: ChainNewsDeps
  readonly #queue = new SerialQueue()
  readonly #heads = new Set<Notify>()
  readonly #logs = new Map<Notify, LogSelection>()
  /** Logs that were sent of the last block, by subscription: they are taken back if another block takes its place. */
  #sent = new Map<Notify, Log[]>()
  #last: BlockHeader | undefined
  #unwatch: (() => void) | undefined

  constructor(chain: Chain, deps: ChainNewsDeps) {
    this.#chain = chain
    this.#deps = deps
  }

  /** Notifies of each new block. Returns what ends that. */
  heads(notify: Notify): () => void {
    this.#heads.add(notify)
    return this.#begin(() => this.#heads.delete(notify))
  }

  /** Notifies of each log of a new block that fits. Returns what ends that. */
  logs(filter: LogSelection, notify: Notify): () => void {
    this.#logs.set(notify, filter)
    return this.#begin(() => {
      this.#sent.delete(notify)
      return this.#logs.delete(notify)
    })
  }

  #begin(forget: () => boolean): () => void {
    if (!this.#unwatch) {
      this.#unwatch = this.#chain.watch((number) => {
        this.#queue.run(() => this.#announce(number)).catch(() => {}) // a chain that is away has no news
      })
      void this.#tick()
    }
    return () => {
      forget()
      if (this.#heads.size + this.#logs.size > 0) return
      this.#unwatch?.()
      this.#unwatch = undefined
    }
  }

  async #tick(): Promise<void> {
    const unwatch = this.#unwatch
    while (this.#unwatch !== undefined && this.#unwatch === unwatch) {
      await this.#ask('eth_blockNumber').catch(() => undefined)
      await this.#deps.wallSleep(this.#deps.blockTime)
    }
  }

  async #announce(number: number): Promise<void> {
    if (!this.#unwatch) return
    const block = (await this.#ask('eth_getBlockByNumber', `0x${number.toString(16)}`, false)) as BlockHeader | null
    if (!block || block.hash === this.#last?.hash) return
    const isReplaced = this.#last !== undefined && Number(block.number) <= Number(this.#last.number)
    const takenBack = isReplaced ? this.#sent : new Map<Notify, Log[]>()
    this.#sent = new Map()
    this.#last = block
    for (const notify of this.#heads) notify(block)
    for (const [notify, { address, topics }] of this.#logs) {
      for (const log of takenBack.get(notify) ?? []) notify({ ...log, removed: true })
      const filter = { blockHash: block.hash, ...(address != null && { address }), ...(topics != null && { topics }) }
      const logs = ((await this.#ask('eth_getLogs', filter)) ?? []) as Log[]
      this.#sent.set(notify, logs)
      for (const log of logs) notify(log)
    }
  }

  async #ask(method: string, ...params: unknown[]): Promise<unknown> {
    const text = await this.#chain.relay({ jsonrpc: '2.0', id: 1, method, params })
    return (JSON.parse(text ?? '{}') as { result?: unknown }).result
  }
}
