import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, crc32 } from 'node:zlib'
import { jsonExcess } from '../support/json.ts'
import { version } from '../version.ts'
import { damagedSnapshot, SnapshotError } from './snapshot-error.ts'

/*
 * A snapshot is text of ASCII characters, so that it can be sent in JSON and attached to an issue. Its first line names form and version,
 * each further line is a part of the state, and the last line is a checksum of all others:
 *
 *   yield-sandbox snapshot 1 0.2.0 <CRC-32 of the line so far>
 *   <CRC-32 of the rest> <name of the part> <JSON, compressed with Brotli, in base64>
 *   end <SHA-256 of all lines before>
 */

const NAME = 'yield-sandbox snapshot'
/** Raise it when an older version would misread a snapshot, and leave a step that reads the last form. */
const FORM = 1
/** Form, version and checksum of the first line. */
const FIRST_LINE = /^yield-sandbox snapshot (\d{1,9}) ([\w.+-]{1,64}) ([0-9a-f]{8})$/
const PART = /^([0-9a-f]{8}) ([a-z]+(?:-[0-9]{1,20})?) ([A-Za-z0-9+/]+={0,2})$/
const END = /^end ([0-9a-f]{64})$/

/** Largest snapshot in bytes. */
export const SNAPSHOT_LIMIT = 64 * 2 ** 20
/** Most characters of JSON that all parts of a snapshot come to. */
const UNPACKED_LIMIT = 256 * 2 ** 20
/** Most values in the JSON of one part. */
export const VALUES_PER_PART = 50_000

/** Quality at which Brotli takes some milliseconds for a megabyte. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** A part of the state, by the name of the journal that it belongs to. */
export interface SnapshotPart {
  name: string
  value: unknown
}

/** Writes parts as a snapshot. Throws SnapshotError if it would be too large to be loaded. */
export async function writeSnapshot(parts: Iterable<SnapshotPart> | AsyncIterable<SnapshotPart>): Promise<string> {
  const lines = [withChecksum(`${NAME} ${FORM} ${version}`)]
  let [length, unpacked] = [0, 0]
  for await (const { name, value } of parts) {
    const json = JSON.stringify(value)
    const rest = `${name} ${(await compress(json, QUALITY)).toString('base64')}`
    lines.push(`${checksum(rest)} ${rest}\n`)
    length += rest.length
    unpacked += json.length
    if (length < SNAPSHOT_LIMIT - 2 ** 20 && unpacked < UNPACKED_LIMIT) continue
    const fix = 'keep a state of this size in a data directory'
    throw new SnapshotError(`the state is too large for a snapshot of ${SNAPSHOT_LIMIT / 2 ** 20} MiB`, fix)
  }
  const text = lines.join('')
  return `${text}end ${digestOf(text)}\n`
}

/** A snapshot whose checksums are right; its parts are still packed. */
export interface SoundSnapshot {
  /** Version of the package that wrote it. */
  version: string
  form: number
  bytes: number
  parts: readonly PackedPart[]
}

interface PackedPart {
  name: string
  /** Byte at which its line begins. */
  at: number
  packed: string
}

/** Checks all checksums of a snapshot. Throws SnapshotError if it is anything but a whole one of a form that this version reads. */
export function checkSnapshot(bytes: Uint8Array): SoundSnapshot {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1') // a character for each byte
  if (text.length > SNAPSHOT_LIMIT) {
    throw new SnapshotError(`it has more than ${SNAPSHOT_LIMIT / 2 ** 20} MiB`, 'give a smaller one')
  }
  const { form, version: writer, end } = firstLineOf(text)
  const parts: PackedPart[] = []
  for (let at = end; ; ) {
    const next = text.indexOf('\n', at)
    if (next === -1) throw damagedSnapshot(`it is cut off: it ends at byte ${text.length}, before its last line`)
    const line = text.slice(at, next)
    const digest = END.exec(line)?.[1]
    if (digest !== undefined) {
      if (digest !== digestOf(text.slice(0, at))) {
        throw damagedSnapshot(`the checksum at byte ${at} is not that of all before it: it was changed`)
      }
      if (next + 1 < text.length) throw damagedSnapshot(`it ends at byte ${next + 1}, and something else follows`)
      return { form, version: writer, bytes: text.length, parts }
    }
    parts.push(partIn(line, at))
    at = next + 1
  }
}

/** Unpacks the parts in their order. Throws SnapshotError. */
export async function* unpackSnapshot({ parts }: SoundSnapshot): AsyncGenerator<SnapshotPart & { at: number }> {
  let left = UNPACKED_LIMIT
  for (const { name, at, packed } of parts) {
    const json = await unpack(packed, at, left)
    left -= json.length
    const excess = jsonExcess(json, VALUES_PER_PART)
    if (excess !== undefined) throw damagedSnapshot(`the part ${name} at byte ${at} ${excess}`)
    yield { name, at, value: jsonAt(json, at) }
  }
}

async function unpack(packed: string, at: number, limit: number): Promise<string> {
  try {
    return (await decompress(Buffer.from(packed, 'base64'), { maxOutputLength: Math.max(1, limit) })).toString()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw unreadable(at)
    throw new SnapshotError(`it unpacks to more than ${UNPACKED_LIMIT / 2 ** 20} MiB`, 'give a smaller one')
  }
}

function jsonAt(json: string, at: number): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw unreadable(at)
  }
}

function unreadable(at: number): SnapshotError {
  return damagedSnapshot(`the part at byte ${at} cannot be read`)
}

function firstLineOf(text: string): { form: number; version: string; end: number } {
  if (!text.startsWith(NAME)) {
    const isBeginning = text.length > 0 && NAME.startsWith(text)
    if (isBeginning) throw damagedSnapshot(`it is cut off: it ends at byte ${text.length}, in its first line`)
    throw new SnapshotError(
      'it is not a snapshot of yield-sandbox',
      'give a file that `yield-sandbox snapshot save` wrote',
    )
  }
  const end = text.indexOf('\n')
  if (end === -1) throw damagedSnapshot(`it is cut off: it ends at byte ${text.length}, in its first line`)
  const line = text.slice(0, end)
  const [, form = '', writer = ''] = FIRST_LINE.exec(line) ?? []
  if (`${line}\n` !== withChecksum(`${NAME} ${form} ${writer}`)) {
    throw damagedSnapshot('it is damaged at byte 0: the checksum of its first line is wrong')
  }
  if (Number(form) > FORM) {
    const problem = `it is of a later version: written by ${writer} in form ${form}, and this is ${version}, which reads form ${FORM}`
    throw new SnapshotError(problem, `update yield-sandbox to ${writer} or later`)
  }
  return { form: Number(form), version: writer, end: end + 1 }
}

function partIn(line: string, at: number): PackedPart {
  const [, sum, name = '', packed = ''] = PART.exec(line) ?? []
  if (sum !== undefined && sum === checksum(`${name} ${packed}`)) return { name, at, packed }
  throw damagedSnapshot(`it is damaged: the checksum of the line at byte ${at} is wrong`)
}

function withChecksum(text: string): string {
  return `${text} ${checksum(text)}\n`
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

function digestOf(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex')
}
