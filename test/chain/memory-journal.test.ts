import { describe } from 'vitest'
import { MemoryJournal } from '../../src/chain/history/chain-journal.ts'
import type { UnparsedEntry, UnparsedJournal } from '../../src/domain/ports/unparsed-journal.ts'
import { exerciseJournal } from '../helpers/exercise-journal.ts'

/** The journal of a chain without a data directory; its entries are never in another form, so that each is turned into JSON here. */
class ReadableMemoryJournal extends MemoryJournal<unknown> implements UnparsedJournal<unknown> {
  async *readUnparsed(): AsyncIterable<UnparsedEntry<unknown>> {
    for await (const entry of this.read()) yield { json: Buffer.from(JSON.stringify(entry)), parse: () => entry }
  }
}

describe('a journal in memory', () => {
  exerciseJournal({
    place: async () => {
      const journal = new ReadableMemoryJournal()
      return { open: async () => journal }
    },
    stories: 60,
    closes: false,
  })
})
