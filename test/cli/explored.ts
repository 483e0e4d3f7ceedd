import { afterEach, beforeEach } from 'vitest'
import type { Command } from './command.ts'
import { commandStarter } from './command-starter.ts'
import { ExploredClient } from './explore-clients.ts'

/** Five runs at one place. */
const FAULTS = 'reset-on-request,reset-after-broadcast,close-after-broadcast,close-after-confirmation,cut-json'
export const FEW = ['--only', 'deposit', '--faults', FAULTS, '--jobs', '2']
export const ALL = 5

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
