import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HEADER_BYTES as HEADER } from '../../src/data-dir/journal-format.ts'
import { allEntries, exerciseJournal } from '../helpers/exercise-journal.ts'
import { bundled, startChild } from './child-process.ts'
import { newPath, open, refusal, refusesFlipped, written } from './damaged-journal.ts'
import { recordedLog } from './recorded-log.ts'
import { temporaryDirectory } from './temporary-directory.ts'

describe('a journal', () => {
  exerciseJournal({
    place: async () => {
      const path = newPath()
      return { open: () => open(path) }
    },
    stories: 60,
  })

  it('has the size of its file without the header', async () => {
    const path = await written([1, { n: 2 }])
    const journal = await open(path)
    expect(journal.size).toBe(statSync(path).size - HEADER)
    await journal.close()
  })

  it('leaves no file behind when the entries of a rewrite fail', async () => {
    const path = newPath()
    const journal = await open(path)
    const failing = function* () {
      yield 3
      throw new Error('no more')
    }
    await expect(journal.rewrite(failing())).rejects.toThrow('no more')
    expect(existsSync(`${path}.tmp`)).toBe(false)
    await journal.close()
  })

  it('removes what a killed rewrite left behind', async () => {
    const path = await written([1, 2])
    copyFileSync(path, `${path}.tmp`)
    truncateSync(`${path}.tmp`, HEADER + 3)
    const journal = await open(path)
    expect(existsSync(`${path}.tmp`)).toBe(false)
    expect(await allEntries(journal)).toEqual([1, 2])
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
      expect(await allEntries(journal)).toEqual([1, 2, 3, 4].slice(0, 2 + whole).map((n) => ({ n })))
      expect(log.warnings).toEqual([
        `${path}: dropped ${length - whole * line} bytes that a killed process had not finished writing`,
      ])
      await journal.append({ n: 5 })
      await journal.close()
      const again = await open(path, log)
      expect((await allEntries(again)).at(-1)).toEqual({ n: 5 })
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
      const entries = (await allEntries(journal)) as { n: number }[]
      const own = entries.slice(expected).map(({ n }) => n)
      expect(own.length).toBeGreaterThanOrEqual(lines)
      expect(own).toEqual(own.map((_, i) => i))
      expected = entries.length
      await journal.close()
    }
  })
})

describe('a damaged journal is refused and left alone', () => {
  // Three bits of each: journal-file.long.test.ts.
  it('with any byte flipped', () => refusesFlipped((at) => [[1, 32, 128][at % 3]!]))

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
  expect(await allEntries(journal)).toEqual([{ n: 1 }, { n: 2 }])
  expect(readFileSync(path).equals(older)).toBe(true)
  const reader = journal.read()
  expect((await reader.next()).value).toEqual({ n: 1 })
  await Promise.all([journal.append({ n: 3 }), journal.append({ n: 4 })])
  expect((await reader.next()).value).toEqual({ n: 2 })
  await reader.return(undefined)
  await journal.close()
  expect(readFileSync(path, 'utf8')).toMatch(/^yield-sandbox journal 2 /)
  const again = await open(path)
  expect(await allEntries(again)).toEqual([1, 2, 3, 4].map((n) => ({ n })))
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
    const numbers = (await allEntries(journal)).map((entry) => (entry as { n: number }).n)
    expect(numbers).toEqual([...acknowledged, -1])
    await journal.close()
  })
})
