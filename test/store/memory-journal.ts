import { NotKeptError } from '../../src/domain/ports/journal.ts'
import type { UnparsedEntry, UnparsedJournal } from '../../src/domain/ports/unparsed-journal.ts'
import type { LedgerEntry } from '../../src/store/ledger-entry.ts'

/** A journal that outlives its store in memory only, fails when told to, and can be made to wait. */
export class MemoryJournal<Entry = LedgerEntry> implements UnparsedJournal<Entry> {
  failing = false
  gate: Promise<void> = Promise.resolve()
  lines: string[] = []

  get size(): number {
    return this.lines.join('').length
  }

  async *read(): AsyncIterable<Entry> {
    for (const line of this.lines) yield JSON.parse(line)
  }

  async *readUnparsed(): AsyncIterable<UnparsedEntry<Entry>> {
    for (const line of this.lines) yield { json: Buffer.from(line), parse: () => JSON.parse(line) }
  }

  async append(entry: Entry): Promise<void> {
    const line = JSON.stringify(entry)
    await this.#ready()
    this.lines.push(line)
  }

  async rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    const lines: string[] = []
    for await (const entry of entries) lines.push(JSON.stringify(entry))
    await this.#ready()
    this.lines = lines
  }

  async close(): Promise<void> {}

  /** Holds what is written back until the returned function is called. */
  hold(): () => void {
    let open = () => {}
    this.gate = new Promise((resolve) => {
      open = resolve
    })
    return open
  }

  async #ready(): Promise<void> {
    await this.gate
    if (this.failing) throw new NotKeptError('the disk is full')
  }
}
