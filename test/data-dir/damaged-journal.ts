import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { DataDirectoryError } from '../../src/data-dir/data-directory-error.ts'
import { JournalFile } from '../../src/data-dir/journal-file.ts'
import { HEADER_BYTES as HEADER } from '../../src/data-dir/journal-format.ts'
import { loneFile } from './lone-file.ts'
import { recordedLog } from './recorded-log.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export const newPath = () => join(temporaryDirectory(), 'ledger.journal')
export const open = (path: string, log = recordedLog()) => JournalFile.open<unknown>(path, loneFile(), log)

/** A journal of these entries, closed again. */
export async function written(entries: readonly unknown[]): Promise<string> {
  const path = newPath()
  const journal = await open(path)
  for (const entry of entries) await journal.append(entry)
  await journal.close()
  return path
}

/** What a journal with these bytes says when it is opened; they must still be there afterwards. */
export async function refusal(path: string, bytes: Buffer): Promise<string> {
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

/** Refuses a journal of which a byte has other bits, each byte in its turn: `bitsOf` says which. */
export async function refusesFlipped(bitsOf: (at: number) => readonly number[]): Promise<void> {
  const path = await written([{ n: 1 }, { text: 'é' }, [3]])
  const whole = readFileSync(path)
  for (let at = 0; at < whole.length; at++) {
    for (const bit of bitsOf(at)) {
      const bytes = Buffer.from(whole)
      bytes[at]! ^= bit
      const message = await refusal(path, bytes)
      expect(message).toMatch(at < HEADER ? /: byte 0: |was written by format/ : /: line [2-4], byte \d+: the checksum/)
      expect(message).toContain(`${path}: `)
      expect(message).toMatch(/Fix: .*--data-dir\.$/)
    }
  }
}
