import { crc32 } from 'node:zlib'
import { DataDirectoryError } from './data-directory-error.ts'

const NAME = 'yield-sandbox journal'
const FORMAT = 1
/** Digits of the acknowledged length: fixed, so that the header can be written in place. */
const DIGITS = 15

/** Bytes of the header, line feed included. */
export const HEADER_BYTES = headerOf(0).length

/**
 * The first line of a journal: format, format version, acknowledged length (bytes of all lines after the header that were
 * acknowledged), checksum of all that.
 */
export function headerOf(acknowledged: number): Buffer {
  const text = `${NAME} ${FORMAT} ${String(acknowledged).padStart(DIGITS, '0')}`
  return Buffer.from(`${text} ${checksum(text)}\n`)
}

/** The acknowledged length that a header says. Throws DataDirectoryError when it is none of this format. */
export function acknowledgedIn(path: string, header: Buffer): number {
  const text = header.toString('latin1')
  const [, version, length] = /^yield-sandbox journal (\d+) (\d*)/.exec(text) ?? []
  if (version === undefined) throw damaged(path, 'byte 0: it does not begin with the header of a journal')
  if (version !== String(FORMAT)) {
    const what = `it was written by format ${version} of the journal, and this version reads format ${FORMAT}`
    throw new DataDirectoryError(path, what, 'start the version that wrote it, or start with another --data-dir')
  }
  const acknowledged = Number(length)
  if (!headerOf(acknowledged).equals(header)) throw damaged(path, 'byte 0: the checksum of its header is wrong')
  return acknowledged
}

/** An entry as it is written: checksum, JSON, line feed. */
export function lineOf(entry: unknown): Buffer {
  const json = JSON.stringify(entry)
  return Buffer.from(`${checksum(json)} ${json}\n`)
}

/** The JSON of a line without its line feed, or undefined when the line is not whole. */
export function jsonIn(line: Buffer): Buffer | undefined {
  const json = line.subarray(9)
  return line.toString('latin1', 0, 9) === `${checksum(json)} ` ? json : undefined
}

/** Something within the acknowledged length is not what was written. */
export function damaged(path: string, what: string): DataDirectoryError {
  const fix = 'restore it from a backup of the whole directory, or start with another or an empty --data-dir'
  return new DataDirectoryError(path, `${what}; what was acknowledged is damaged, and nothing was changed`, fix)
}

function checksum(data: string | Buffer): string {
  return crc32(data).toString(16).padStart(8, '0')
}
