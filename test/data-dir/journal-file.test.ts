import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataDirectoryError } from '../../src/data-dir/data-directory-error.ts'
import { JournalFile } from '../../src/data-dir/journal-file.ts'
import { HEADER_BYTES as HEADER } from '../../src/data-dir/journal-format.ts'
import { bundled, startChild } from './child-process.ts'
import { loneFile } from './lone-file.ts'
import { recordedLog } from './recorded-log.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const newPath = () => join(temporaryDirectory(), 'ledger.journal')
const open = (path: string, log = recordedLog()) => JournalFile.open<unknown>(path, loneFile(), log)

async function all(journal: JournalFile<unknown>): Promise<unknown[]> {
  const entries: unknown[] = []
  for await (const entry of journal.read()) entries.push(entry)
  return entries
}

/** A journal of these entries, closed again. */
async function written(entries: readonly unknown[]): Promise<string> {
  const path = newPath()
  const journal = await open(path)
  for (const entry of entries) await journal.append(entry)
  await journal.close()
  return path
}

/** What a journal with these bytes says when it is opened; they must still be there afterwards. */
async function refusal(path: string, bytes: Buffer): Promise<string> {
  writeFileSync(path, bytes)
  const error = await open(path).then(
    () => expect.fail('it was opened'),
    (error: Error) => error,
  )
  expect(error).toBeInstanceOf(DataDirectoryError)
  expect(error.message).not.toContain('\n')
  expect(readFileSync(path).equals(bytes)).toBe(true)
  return error.message
}

describe('a journal', () => {
  it('holds what was appended and rewritten, in order, also when opened again', async () => {
    const entry = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))) // which knows no -0
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ append: fc.array(entry, { maxLength: 5 }) }) },
      { weight: 1, arbitrary: fc.record({ rewrite: fc.array(entry, { maxLength: 3 }) }) },
      { weight: 1, arbitrary: fc.constant('reopen' as const) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const path = newPath()
        let journal = await open(path)
        let model: unknown[] = []
        let done: Promise<void>[] = []
        for (const each of steps) {
          if (each === 'reopen') {
            await Promise.all(done)
            await journal.close()
            journal = await open(path)
            expect(await all(journal)).toEqual(model)
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
        expect(await all(journal)).toEqual(model)
        await journal.close()
        const reopened = await open(path)
        expect(await all(reopened)).toEqual(model)
        expect(reopened.size).toBe(statSync(path).size - HEADER)
        await reopened.close()
      }),
      { numRuns: 60 },
    )
  })

  it('holds what was appended since it was opened, for its first reader and every other', async () => {
    const journal = await open(await written([1, 2]))
    await journal.append(3)
    expect(await all(journal)).toEqual([1, 2, 3])
    await journal.append(4)
    const unparsed: [string, unknown][] = []
    for await (const { json, parse } of journal.readUnparsed()) unparsed.push([json.toString(), parse()])
    expect(unparsed).toEqual([1, 2, 3, 4].map((n) => [`${n}`, n]))
    await journal.close()
  })

  it('takes entries longer than it reads at once, and any text', async () => {
    const entries = ['x'.repeat(3_000_000), 'a\nb\u2028\u0000é\ud83d\ude00', { long: 'é'.repeat(1_500_000) }, null]
    const journal = await open(await written(entries))
    for (const reader of ['first', 'second']) expect(await all(journal), reader).toEqual(entries)
    await journal.close()
  })

  it('can be rewritten from its own entries, and read on while it is', async () => {
    const journal = await open(await written([1, 2, 3, 4]))
    const reader = journal.read()
    expect((await reader.next()).value).toBe(1)
    async function* odd() {
      for await (const entry of journal.read()) if (Number(entry) % 2) yield entry
    }
    await Promise.all([journal.rewrite(odd()), journal.append(5)])
    expect((await reader.next()).value).toBe(2)
    await reader.return(undefined)
    expect(await all(journal)).toEqual([1, 3, 5])
    await journal.close()
  })

  it('stays as it was when the entries of a rewrite fail', async () => {
    const path = await written([1, 2])
    const journal = await open(path)
    const failing = function* () {
      yield 3
      throw new Error('no more')
    }
    await expect(journal.rewrite(failing())).rejects.toThrow('no more')
    await journal.append(4)
    expect(await all(journal)).toEqual([1, 2, 4])
    expect(existsSync(`${path}.tmp`)).toBe(false)
    await journal.close()
    await expect(journal.append(5)).rejects.toThrow('closed')
  })

  it('removes what a killed rewrite left behind', async () => {
    const path = await written([1, 2])
    copyFileSync(path, `${path}.tmp`)
    truncateSync(`${path}.tmp`, HEADER + 3)
    const journal = await open(path)
    expect(existsSync(`${path}.tmp`)).toBe(false)
    expect(await all(journal)).toEqual([1, 2])
    await journal.close()
  })

  it('is readable by its owner only', async () => {
    expect(statSync(await written([1])).mode & 0o777).toBe(0o600)
  })
})

describe('the end of a journal whose writer was killed', () => {
  it('is dropped where it is torn and kept where it is whole, at every byte', async () => {
    const path = await written([{ n: 1 }, { n: 2 }])
    const acknowledged = readFileSync(path)
    const longer = await written([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }])
    const tail = readFileSync(longer).subarray(acknowledged.length)
    const line = tail.length / 2
    for (let length = 1; length <= tail.length; length++) {
      writeFileSync(path, Buffer.concat([acknowledged, tail.subarray(0, length)]))
      const log = recordedLog()
      const journal = await open(path, log)
      const whole = Math.floor(length / line)
      expect(await all(journal)).toEqual([1, 2, 3, 4].slice(0, 2 + whole).map((n) => ({ n })))
      expect(log.warnings).toEqual([
        `${path}: dropped ${length - whole * line} bytes that a killed process had not finished writing`,
      ])
      await journal.append({ n: 5 })
      await journal.close()
      const again = await open(path, log)
      expect((await all(again)).at(-1)).toEqual({ n: 5 })
      expect(log.warnings).toHaveLength(1)
      await again.close()
    }
  })

  it('keeps every acknowledged entry, and entries whole and in order, when the writer is killed', async () => {
    const directory = temporaryDirectory()
    const script = await bundled('./append-child.ts', directory)
    const path = join(directory, 'ledger.journal')
    let expected = 0
    for (const lines of [1, 2, 40, 300]) {
      const child = startChild(script, [path])
      let last = -1
      for (let i = 0; i < lines; i++) last = Number(await child.line())
      expect(last).toBe(lines - 1)
      await child.kill()
      const journal = await open(path)
      const entries = (await all(journal)) as { n: number }[]
      const own = entries.slice(expected).map(({ n }) => n)
      expect(own.length).toBeGreaterThanOrEqual(lines)
      expect(own).toEqual(own.map((_, i) => i))
      expected = entries.length
      await journal.close()
    }
  })
})

describe('a damaged journal is refused and left alone', () => {
  it('with any byte flipped', async () => {
    const path = await written([{ n: 1 }, { text: 'é' }, [3]])
    const whole = readFileSync(path)
    for (let at = 0; at < whole.length; at++) {
      for (const bit of [1, 32, 128]) {
        const bytes = Buffer.from(whole)
        bytes[at]! ^= bit
        const message = await refusal(path, bytes)
        expect(message).toMatch(
          at < HEADER ? /: byte 0: |was written by format/ : /: line [2-4], byte \d+: the checksum/,
        )
        expect(message).toContain(`${path}: `)
        expect(message).toMatch(/Fix: .*--data-dir\.$/)
      }
    }
  })

  it('with any bytes missing at its end', async () => {
    const path = await written([{ n: 1 }, { n: 2 }, { n: 3 }])
    const whole = readFileSync(path)
    for (let length = 0; length < whole.length; length++) {
      const message = await refusal(path, whole.subarray(0, length))
      if (length >= HEADER) {
        expect(message).toContain(`it ends at byte ${length}, and ${whole.length} bytes of it were acknowledged`)
      } else {
        expect(message).toContain('byte 0: ')
      }
    }
  })

  it('when it is another kind of file, or an empty one', async () => {
    const path = newPath()
    for (const text of ['', 'yield', '{"sequence": 3, "records": {}}\n'.repeat(9)]) {
      expect(await refusal(path, Buffer.from(text))).toContain('it does not begin with the header of a journal')
    }
  })

  it('of another format, by name', async () => {
    const path = await written([{ n: 1 }])
    const text = readFileSync(path, 'utf8')
    const message = await refusal(path, Buffer.from(text.replace('journal 2 ', 'journal 3 ')))
    expect(message).toContain('it was written by format 3 of the journal, and this version reads formats 1 to 2')
    expect(message).toContain('start the version that wrote it')
  })
})

it('a journal of the last format is read as it is, and written anew with the first entry that it is given', async () => {
  const path = await written([{ n: 1 }, { n: 2 }])
  const lines = readFileSync(path).subarray(HEADER)
  const header = `yield-sandbox journal 1 ${String(lines.length).padStart(15, '0')}`
  const older = Buffer.concat([Buffer.from(`${header} ${crc32(header).toString(16).padStart(8, '0')}\n`), lines])
  writeFileSync(path, older)
  const journal = await open(path)
  expect(await all(journal)).toEqual([{ n: 1 }, { n: 2 }])
  expect(readFileSync(path).equals(older)).toBe(true)
  const reader = journal.read()
  expect((await reader.next()).value).toEqual({ n: 1 })
  await Promise.all([journal.append({ n: 3 }), journal.append({ n: 4 })])
  expect((await reader.next()).value).toEqual({ n: 2 })
  await reader.return(undefined)
  await journal.close()
  expect(readFileSync(path, 'utf8')).toMatch(/^yield-sandbox journal 2 /)
  const again = await open(path)
  expect(await all(again)).toEqual([1, 2, 3, 4].map((n) => ({ n })))
  await again.close()
})

describe('a journal that may not grow', () => {
  it('refuses what does not fit, says why, and takes what fits', async () => {
    const directory = temporaryDirectory()
    const script = await bundled('./append-child.ts', directory)
    const path = join(directory, 'ledger.journal')
    const child = startChild(script, [path], 8 * 1024)
    const lines: string[] = []
    for (let line = await child.line(); line !== undefined; line = await child.line()) lines.push(line)

    const refused = lines.filter((line) => line.startsWith('refused'))
    const acknowledged = lines.filter((line) => /^\d+$/.test(line)).map(Number)
    expect(acknowledged.length).toBeGreaterThan(10)
    expect(refused).toHaveLength(3)
    for (const line of refused) expect(line).toMatch(/: the file may not grow further\. Fix: raise the limit/)
    // Nothing of what was refused stays behind.
    expect(new Set(refused.map((line) => /at (\d+)/.exec(line)?.[1])).size).toBe(1)
    expect(lines.at(-1)).toBe('appended a shorter one')

    const journal = await open(path)
    const numbers = (await all(journal)).map((entry) => (entry as { n: number }).n)
    expect(numbers).toEqual([...acknowledged, -1])
    await journal.close()
  })
})
