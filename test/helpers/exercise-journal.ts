import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { UnparsedJournal } from '../../src/domain/ports/unparsed-journal.ts'

/** Opens one journal again and again: as a new process would, once it was closed. */
export interface JournalPlace {
  open(): Promise<UnparsedJournal<unknown>>
}

/** Options of {@link exerciseJournal}. */
interface Exercise {
  /** Makes a place for a new journal. */
  place(): Promise<JournalPlace>
  /** Number of random stories. */
  stories: number
  /** False for a journal that takes entries after it was closed, because it ends with its process. Default true. */
  closes?: boolean
}

/** Every entry of a journal, oldest first. */
export async function allEntries(journal: UnparsedJournal<unknown>): Promise<unknown[]> {
  const entries: unknown[] = []
  for await (const entry of journal.read()) entries.push(entry)
  return entries
}

/** The tests that every journal passes, wherever it is kept. */
export function exerciseJournal({ place, stories, closes = true }: Exercise): void {
  /** A journal of these entries, closed and opened again. */
  const holding = async (entries: readonly unknown[]) => {
    const { open } = await place()
    const journal = await open()
    for (const entry of entries) await journal.append(entry)
    await journal.close()
    return open()
  }

  it('holds what was appended and rewritten, in order, also when opened again', async () => {
    const entry = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))) // which knows no -0
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ append: fc.array(entry, { maxLength: 5 }) }) },
      { weight: 1, arbitrary: fc.record({ rewrite: fc.array(entry, { maxLength: 3 }) }) },
      { weight: 1, arbitrary: fc.constant('reopen' as const) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const { open } = await place()
        let journal = await open()
        let model: unknown[] = []
        let done: Promise<void>[] = []
        for (const each of steps) {
          if (each === 'reopen') {
            await Promise.all(done)
            await journal.close()
            journal = await open()
            expect(await allEntries(journal)).toEqual(model)
            done = []
          } else if ('append' in each) {
            done.push(...each.append.map((entry) => journal.append(entry)))
            model.push(...each.append)
          } else {
            done.push(journal.rewrite(each.rewrite))
            model = [...each.rewrite]
          }
        }
        await Promise.all(done)
        expect(await allEntries(journal)).toEqual(model)
        const { size } = journal
        await journal.close()
        const reopened = await open()
        expect(await allEntries(reopened)).toEqual(model)
        expect(reopened.size).toBe(size)
        await reopened.close()
      }),
      { numRuns: stories },
    )
  })

  it('holds what was appended since it was opened, for its first reader and every other', async () => {
    const journal = await holding([1, 2])
    await journal.append(3)
    expect(await allEntries(journal)).toEqual([1, 2, 3])
    await journal.append(4)
    const unparsed: [string, unknown][] = []
    for await (const { json, parse } of journal.readUnparsed()) unparsed.push([json.toString(), parse()])
    expect(unparsed).toEqual([1, 2, 3, 4].map((n) => [`${n}`, n]))
    await journal.close()
  })

  it('takes entries longer than it reads at once, and any text', async () => {
    const entries = ['x'.repeat(3_000_000), 'a\nb\u2028\u0000é\ud83d\ude00', { long: 'é'.repeat(1_500_000) }, null]
    const journal = await holding(entries)
    for (const reader of ['first', 'second']) expect(await allEntries(journal), reader).toEqual(entries)
    await journal.close()
  })

  it('can be rewritten from its own entries, and read on while it is', async () => {
    const journal = await holding([1, 2, 3, 4])
    const reader = journal.read()[Symbol.asyncIterator]()
    expect((await reader.next()).value).toBe(1)
    async function* odd() {
      for await (const entry of journal.read()) if (Number(entry) % 2) yield entry
    }
    await Promise.all([journal.append(5), journal.rewrite(odd()), journal.append(6), journal.append(7)])
    expect((await reader.next()).value).toBe(2)
    await reader.return?.()
    expect(await allEntries(journal)).toEqual([1, 3, 5, 6, 7])
    await journal.close()
  })

  it('stays as it was when the entries of a rewrite fail', async () => {
    const { open } = await place()
    const journal = await open()
    for (const entry of [1, 2]) await journal.append(entry)
    const failing = function* () {
      yield 3
      throw new Error('no more')
    }
    await expect(journal.rewrite(failing())).rejects.toThrow('no more')
    await journal.append(4)
    expect(await allEntries(journal)).toEqual([1, 2, 4])
    await journal.rewrite([5])
    await journal.append(6)
    expect(await allEntries(journal)).toEqual([5, 6])
    await journal.close()
    if (closes) await expect(journal.append(7)).rejects.toThrow('closed')
    const again = await open()
    expect(await allEntries(again)).toEqual([5, 6])
    await again.close()
  })
}
