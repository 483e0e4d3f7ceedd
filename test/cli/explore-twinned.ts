import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { WORKER } from '../explore/twin-workers.ts'
import { runHere } from './in-process.ts'

/** For each test of a file: a folder, and what explores the worker that is run twice. */
export class ExploreTwinned {
  #folder = ''

  constructor() {
    beforeEach(() => {
      this.#folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-twins-'))
    })
    afterEach(() => rmSync(this.#folder, { recursive: true, force: true }))
  }

  /** Explores the worker, of which each run has a store of its own. */
  explore(flags: readonly string[], variant: Record<string, string> = {}) {
    const folder = this.#folder
    const files = ['--results', join(folder, 'results.jsonl'), '--report', join(folder, 'explore.json')]
    const args = ['explore', '--no-join', '--jobs', '2', ...files, ...flags, '--', ...WORKER]
    return runHere(args, { STATE_DIR: folder, ...variant })
  }

  get report() {
    return JSON.parse(readFileSync(join(this.#folder, 'explore.json'), 'utf8'))
  }
}
