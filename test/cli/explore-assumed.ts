import { readFileSync } from 'node:fs'
import { afterEach, beforeEach } from 'vitest'
import { ExploredClient } from './explore-clients.ts'
import { runHere } from './in-process.ts'

/** For each test of a file: a client, and what explores it under other settings. */
export class ExploreAssumed {
  #client: ExploredClient | undefined

  constructor() {
    beforeEach(() => {
      this.#client = new ExploredClient()
    })
    afterEach(() => this.client[Symbol.dispose]())
  }

  get client(): ExploredClient {
    if (!this.#client) throw new Error('no test has begun')
    return this.#client
  }

  /** Explores the client, and keeps results in its folder. */
  explore(...flags: readonly string[]) {
    const { client } = this
    const own = ['--results', client.path('results.jsonl'), '--report', client.path('report.json'), '--seed', '7']
    return runHere(['explore', ...own, ...flags, '--', ...client.command], client.env)
  }

  get reported() {
    return JSON.parse(readFileSync(this.client.path('report.json'), 'utf8'))
  }

  /** Of each setting. */
  get outcomes(): string[] {
    return this.reported.assumptions.map((one: { outcome: string }) => one.outcome)
  }
}
