import { afterEach, beforeEach } from 'vitest'
import type { Command } from './command.ts'
import { commandStarter } from './command-starter.ts'
import { ExploredClient } from './explore-clients.ts'

/** Five runs at one place. */
const FAULTS = [
  'reset-after-broadcast',
  'cut-json',
  'close-after-confirmation',
  'reset-on-request',
  'close-after-broadcast',
]
const of = (faults: readonly string[]) => ['--only', 'deposit', '--faults', faults.join(','), '--jobs', '2']
export const FEW = of(FAULTS)
export const ALL = FAULTS.length
/** The first two of them. */
export const TWO = of(FAULTS.slice(0, 2))

/** A client for each test of a file, and what explores it. */
export class Explored {
  #client: ExploredClient | undefined
  readonly #start: ReturnType<typeof commandStarter>

  constructor() {
    beforeEach(() => {
      this.#client = new ExploredClient()
    })
    // Registered before that of the commands, and so it runs after it.
    afterEach(() => this.client[Symbol.dispose]())
    this.#start = commandStarter()
  }

  /** The client of the present test. */
  get client(): ExploredClient {
    if (!this.#client) throw new Error('no test has begun')
    return this.#client
  }

  /** Begins to explore the client, or another command, and leaves its results with the client. */
  start(flags: readonly string[], env: Record<string, string> = {}, command = this.client.command): Command {
    const { client } = this
    const args = ['explore', '--results', client.path('results.jsonl'), ...flags, '--', ...command]
    return this.#start(args, { env: { ...client.env, ...env } })
  }
}
